import FieldpackCore
import Testing

@testable import FieldpackFormats
@testable import FieldpackWFS

@Suite struct WFSAddressTests {
  @Test func `parameters of the user's address go to the address that a service names`() throws {
    let root = try XMLTree(
      Array(
        """
        <WFS_Capabilities xmlns="http://www.opengis.net/wfs/2.0" version="2.0.0"
         xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink">
        <ows:OperationsMetadata><ows:Operation name="GetFeature"><ows:DCP><ows:HTTP>
        <ows:Get xlink:href="http://a.example/features?MAP=b&amp;"/>
        <ows:Post xlink:href="http://other.example/features"/>
        </ows:HTTP></ows:DCP></ows:Operation></ows:OperationsMetadata></WFS_Capabilities>
        """.utf8))
    let operations = WFSOperations(
      base: WFSAddress("http://a.example:80/wfs?map=a&token=x&request=y"),
      capabilities: try WFSCapabilities(root, asked: .wfs20))
    #expect(
      operations.address(of: "GetFeature").plainURL == "http://a.example/features?MAP=b&token=x")
    #expect(
      operations.postAddress(of: "GetFeature").plainURL
        == "http://a.example:80/wfs?map=a&token=x")
  }

  @Test func `requests are shown without what may be a secret`() {
    let address = WFSAddress("https://me:word@a.example/a@b?token=x=y&secret&Map=m")
    let url = address.url([("service", "WFS"), ("typeNames", "s:wells")])
    let shown = "https://a.example/a@b?token=…&…&Map=…&service=WFS&typeNames=s:wells"
    #expect(WFSRequest(url: url).description == "GET " + shown)
    #expect(WFSRequest(url: url, body: [0x61]).description == "POST \(shown)\na")
    #expect(WFSAddress.shown(address.path) == "https://a.example/a@b")
  }
}
