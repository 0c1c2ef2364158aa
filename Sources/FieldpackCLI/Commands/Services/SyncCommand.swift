import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackServices

extension FieldpackTool {
  static var syncCommand: Command {
    Command(
      "sync", abstract: "Bring the edits of two copies of a file together.",
      discussion: """
        The first file is the device: its edits go to the receiver, another file or a server, \
        and the receiver's edits come back. Both files must log their layers, and one of them \
        began as a copy of the other. Edits keep who made them, and when. What was interrupted \
        goes on at the next run, and nothing is applied twice.

        Where both changed the same column of a feature, the receiver's value stands; the other \
        is kept as a row of the layer conflict. Different columns are merged. A change wins \
        against a deletion. An edit that the receiver refuses is parked, and later ones of its \
        feature with it; the status is 2 then. With --retry parked edits are sent again.

        With --dry-run the edits are listed, and neither side is written. With --follow the \
        command goes on until it is interrupted: after each commit with edits, and every 30 s. \
        A receiver that cannot be reached is asked again after 0.5 s, then after twice the time, \
        up to 30 s.
        """,
      examples: [
        "fieldpack sync laptop.gpkg office.gpkg --dry-run",
        "fieldpack sync laptop.gpkg office.gpkg",
        "fieldpack sync laptop.gpkg https://example.org/sync --token-from tablet.token --follow",
      ],
      family: positionsFamily, body: SyncCommand.self)
  }
}

/// `fieldpack sync`.
private struct SyncCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var device: String
    @Required var receiver: String
    let isDryRun: Bool
    let retries: Bool
    let follows: Bool
    let allowsUnencrypted: Bool
    let access: AccessTokenArguments
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _device = reader.geoPackage("The GeoPackage of the device.")
      _receiver = reader.argument(
        .text("receiver", completion: .files(["gpkg"])),
        help: "The GeoPackage that the edits go to, or the address of a server.")
      isDryRun = reader.flag("dry-run", help: "List the edits, and write nothing.")
      retries = reader.flag("retry", help: "Send parked edits again.")
      follows = reader.flag("follow", help: "Go on until interrupted.")
      allowsUnencrypted = reader.flag(
        "insecure", help: "Ask a server on another machine by http, too, where others can read.")
      access = reader.group()
      profile = reader.profile()
    }

    var isServer: Bool {
      let start = receiver.prefix(8).lowercased()
      return start.hasPrefix("http://") || start.hasPrefix("https://")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    guard !options.isDryRun || !options.follows else {
      throw FieldpackError(.invalidArgument, "--dry-run and --follow exclude each other")
    }
    let (device, receiver) = (options.device, options.receiver)
    if let identity = FileIdentity(device), identity == FileIdentity(receiver) {
      throw FieldpackError(
        .invalidArgument,
        "\(device) and \(receiver) are the same file. Try: the file of the device first, then the "
          + "one that it was copied from")
    }
    return try await withStore(device) { (store) async throws(FieldpackError) in
      if options.isServer {
        let server = try HTTPSyncPeer(
          receiver, signedIn: try options.access.token().map { GivenToken(text: $0) },
          allowsUnencrypted: options.allowsUnencrypted)
        return try await synchronise(store, with: server)
      }
      return try await withStore(receiver) { (other) async throws(FieldpackError) in
        try await synchronise(store, with: SyncService(of: other))
      }
    }
  }

  /// Opens a GeoPackage with a logged layer.
  private func withStore(
    _ path: String, _ body: (GeoPackageStore) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(path, options.profile, usesWAL: false) {
      (store) async throws(FieldpackError) in
      let layers = try await store.read {
        (snapshot: GeoPackageSnapshot) throws(FieldpackError) in try snapshot.loggedLayers()
      }
      guard !layers.isEmpty else {
        throw FieldpackError(
          .constraint,
          "no layer of \(path) logs its edits. Try: fieldpack log enable \(path):LAYER, and a copy "
            + "of that file for each device")
      }
      return try await body(store)
    }
  }

  private func synchronise(
    _ store: GeoPackageStore, with peer: any SyncPeer
  ) async throws(FieldpackError) -> Int32 {
    var run = SyncRun(of: store, with: peer)
    run.retriesParked = options.retries
    let output = SyncOutput(
      invocation: invocation, device: options.device, receiver: peer.name,
      follows: options.follows)
    if options.isDryRun {
      try output.show(try await run.plan())
      return ExitStatus.success
    }
    if options.follows {
      do throws(FieldpackError) {
        try await run.follow { (event) throws(FieldpackError) in try output.show(event) }
      } catch {
        guard error.code == .interrupted else { throw error }
      }
      return ExitStatus.success
    }
    let report = try await run.run()
    try output.show(report)
    return report.layers.contains { $0.parked > 0 }
      ? ExitStatus.skippedFeatures : ExitStatus.success
  }
}

/// A token of the server that was given, and that nobody can renew.
private struct GivenToken: TokenRenewing {
  let text: String

  var user: String? { nil }

  func token() async throws(FieldpackError) -> String? { text }

  func token(after refused: String) async throws(FieldpackError) -> String? {
    throw FieldpackError(.permission, "the server does not take the token")
  }
}
