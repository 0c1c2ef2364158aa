import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackServer

extension FieldpackTool {
  static var serveCommand: Command {
    Command(
      "serve", abstract: "Serve the layers of a GeoPackage by HTTP.",
      discussion: """
        Clients read the layers as OGC API Features: QGIS, ogr2ogr and browsers do so with the \
        address that is printed. Features come as GeoJSON, HTML, GeoJSON lines, CSV and GPX, and \
        conditions are CQL2. Other programs may change the file meanwhile. The command itself \
        only reads it, unless it is started with --writable: then copies of the file bring their \
        edits to /sync, where 'fieldpack sync' sends them, and devices bring captures to /upload and \
        motion to /motion.

        The command goes on until it is interrupted. It then answers the requests that run, and \
        ends with status 0. Only programs of this machine can connect, unless --listen names \
        another of its addresses; then --open must say that whoever reaches it may read.
        """,
      examples: [
        "fieldpack serve field.gpkg", "fieldpack serve field.gpkg --listen 127.0.0.1:0 --json",
        "curl 'http://127.0.0.1:8085/collections/wells/items?filter=depth>20'",
      ],
      family: positionsFamily, body: ServeCommand.self)
  }
}

/// `fieldpack serve`.
private struct ServeCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: String
    let address: ListenAddress?
    let publicURL: String?
    let isOpen: Bool
    let isWritable: Bool
    let hasPublicCaptures: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _source = reader.geoPackage("The GeoPackage to serve.")
      address = reader.value(
        "listen", .address, help: "Where to listen; port 0 is a free one. (default: 127.0.0.1:8085)"
      )
      publicURL = reader.value(
        "public-url", .text("url"), help: "The address that clients know, behind a proxy.")
      isOpen = reader.flag("open", help: "Let everybody who reaches the address read.")
      isWritable = reader.flag("writable", help: "Take edits, captures and motion.")
      hasPublicCaptures = reader.flag(
        "public-captures", help: "Let pages of other sites load captures, as scripts.")
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let address = options.address ?? ListenAddress()
    guard address.isLoopback || options.isOpen else {
      throw FieldpackError(
        .invalidArgument,
        "\(address.host) can be reached from other machines, and whoever reaches it could read "
          + "'\(options.source)'. Try: --open, where that is wanted")
    }
    guard address.isLoopback || !options.isWritable else {
      throw FieldpackError(
        .invalidArgument,
        "--writable is for addresses of this machine alone, such as 127.0.0.1, because the server "
          + "does not ask who sends edits")
    }
    return try await invocation.withGeoPackage(options.source, options.profile) {
      (store) throws(FieldpackError) in
      var settings = FieldServer.Options()
      settings.title = store.id.rawValue
      settings.publicURL = options.publicURL
      settings.isWritable = options.isWritable
      settings.hasPublicCaptures = options.hasPublicCaptures
      settings.logger = invocation.logger
      let server = FieldServer(of: store, options: settings)
      let listening = try server.listen(on: address)
      let url = options.publicURL ?? "http://\(listening)/"
      do throws(FieldpackError) {
        if invocation.isJSON {
          try invocation.print(["address": .text(url)])
        } else {
          try invocation.print("serving \(options.source) at \(url)\n")
        }
        try invocation.output.flush()
      } catch {
        await server.close()
        throw error
      }
      while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
      await server.close()
      return ExitStatus.success
    }
  }
}

extension ValueForm where Value == ListenAddress {
  fileprivate static var address: ValueForm {
    ValueForm("host:port") { (text) throws(ValueError) -> ListenAddress in
      guard let address = try? ListenAddress(text) else {
        throw ValueError("is no address of this machine such as 127.0.0.1:8085 or [::1]:8085")
      }
      return address
    }
  }
}
