import Fieldpack
import FieldpackCore
import FieldpackHTTP
import FieldpackServices

/// A config whose stores are asked of servers.
struct ServiceArguments: OptionGroup {
  @Required var config: String
  let allowsPaths: [String]
  private let storeFolder: String?
  private let privateHosts: [String]

  init(_ reader: inout OptionReader) {
    _config = reader.argument(
      .whole("config", completion: .source(["scfg"])), help: "A .scfg, or a folder of them.")
    allowsPaths = reader.allowedPaths()
    storeFolder = reader.storeFolder()
    privateHosts = reader.values(
      "allow-host", .text("host"),
      help: "A host with a private address that servers on the internet may lead to; may be "
        + "repeated.")
  }

  /// What holds for all stores.
  func context(_ logger: Logger) -> StoreContext {
    var http = HTTPConfiguration()
    http.privateHosts = Set(privateHosts.map { $0.lowercased() })
    var context = StoreContext(http: http)
    context.folder = storeFolder
    context.logger = logger
    return context
  }
}

extension DisplayText {
  /// A line, and under it what belongs to it, indented.
  static func lines(_ line: String, _ below: String?) -> String {
    visible(line) + "\n" + (below.map { "  \(visible($0))\n" } ?? "")
  }
}
