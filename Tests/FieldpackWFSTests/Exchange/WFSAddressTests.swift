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
      version: .wfs20, base: WFSAddress("http://a.example:80/wfs?map=a&token=x&request=y"),
      capabilities: try WFSCapabilities(root, version: .wfs20))
    #expect(
      operations.address(of: "GetFeature").plainURL == "http://a.example/features?MAP=b&token=x")
    #expect(
      operations.postAddress(of: "GetFeature").plainURL
        == "http://a.example:80/wfs?map=a&token=x")
  }
}
