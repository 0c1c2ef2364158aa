import Fieldpack
import FieldpackCLI
import FieldpackCore
import FieldpackField
import FieldpackFormats
import FieldpackGeoPackage
import FieldpackMotion
import FieldpackPostGIS
import FieldpackSQLite
import FieldpackServices
import FieldpackTestVFS
import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Programs that tests kill, or whose files they record.
@main struct FieldpackTestSubject {
  static func main() async throws {
    let words = CommandLine.arguments
    if words[1] == "tool" { exit(await runTool(recording: words[2], Array(words.dropFirst(3)))) }
    if words[1] == "statements" {
      exit(await runTool(listing: words[2], Array(words.dropFirst(3))))
    }
    SQLiteLibrary.skipMemoryStatistics()
    if words[1] == "poll" { return try await poll(words[2]) }
    if words[1] == "download" { return try await SensorFleet.download(words[2]) }
    if words[1] == "pending" {
      return try await readPending(words[2], LayerID(words[3]), rounds: Int(words[4]) ?? 1)
    }
    let store = try await GeoPackageStore(path: words[2], id: "field")
    switch words[1] {
    case "edits": try await edit(LayerID(words[3]), of: store, count: Int(words[4]) ?? 0)
    case "receive": try await receive(from: words[3], into: store)
    case "captures": try await CapturingDevice(store).run()
    case "fleet":
      try await SensorFleet(store).run(Int(words[3]) ?? 0, Array(words.dropFirst(4)))
    case "full": try await SensorFleet(store).measure(Int(words[3]) ?? 0, words[4])
    case "sync": try await synchronise(store, with: words[3])
    case "checkin": try await checkIn(store, words[3], schema: words[4])
    case "deliver": try await EditingDevice(store, atPort: Int(words[3]) ?? 0).run()
    case "serve":
      let listener = try SyncListener(store)
      show(listener.address)
      while true { try await Task.sleep(for: .seconds(3600)) }
    case "log":
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        _ = try writer.logEdits(of: LayerID(words[3]))
      }
    default: try await record(words[3], into: store)
    }
    await store.close()
  }

  /// `tool RECORD ARGUMENT...`: the tool, with a record of all that it does to files.
  private static func runTool(recording path: String, _ arguments: [String]) async -> Int32 {
    guard fieldpack_record_begin(path) == 0 else { return 1 }
    FileSystem.recorder.withLock { $0 = { $0.record() } }
    return await FieldpackTool.run(arguments: arguments)
  }

  /// `statements LIST ARGUMENT...`: the tool, with a list of all statements that SQLite runs.
  private static func runTool(listing path: String, _ arguments: [String]) async -> Int32 {
    guard fieldpack_statements_begin(path) == 0 else { return 1 }
    return await FieldpackTool.run(arguments: arguments)
  }

  /// Shows a line at once.
  @Sendable static func show(_ line: String) {
    let output = ByteOutput(descriptor: STDOUT_FILENO)
    output.buffer += (line + "\n").utf8
    try? output.flush()
  }

  /// `poll CONFIG`: fetches the feed of a config again and again, and shows each time.
  private static func poll(_ path: String) async throws {
    var context = StoreContext()
    context.cache = .private
    let data = DataService(context: context)
    let config = try WorkspaceConfig([path])
    try await data.registerAndStart(config.stores[0])
    while true {
      try await data.poll(config.stores[0].id)
      show("polled")
    }
  }

  /// `sync DEVICE.gpkg RECEIVER`: edits a layer of wells and synchronises, again and again, and shows
  /// each time. The receiver is a file or an address.
  private static func synchronise(_ store: GeoPackageStore, with receiver: String) async throws {
    var office: GeoPackageStore?
    if !receiver.hasPrefix("http:") {
      office = try await GeoPackageStore(path: receiver, id: "office")
    }
    let peer: any SyncPeer =
      if let office { SyncService(of: office) } else { try HTTPSyncPeer(receiver) }
    try await synchronise(store, with: peer)
  }

  /// `checkin COPY.gpkg HOST SCHEMA`: the same with a database.
  private static func checkIn(
    _ store: GeoPackageStore, _ host: String, schema: String
  ) async throws {
    #if PostGIS
      let keywords = [
        (name: "host", value: host), ("dbname", "fieldpack"), ("user", "fieldpack"),
        ("passfile", "/dev/null"),
      ]
      var scope = PostGISScope()
      scope.schema = schema
      let database = PostGISStore(
        id: "survey", address: PostgresAddress(keywords: keywords, shown: "test"), scope: scope)
      try await synchronise(store, with: PostGISSyncPeer(of: database))
    #endif
  }

  private static func synchronise(
    _ store: GeoPackageStore, with peer: any SyncPeer
  ) async throws {
    while true {
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        let ids = try writer.features(Query("wells").select([])).compactMap(\.id)
        for number in Int64(0)..<2 {
          try writer.create(Feature(attributes: ["state": number]), in: "wells")
        }
        for id in ids.shuffled().prefix(2) {
          try writer.update(id, in: "wells", set: ["state": .integer(.random(in: 0..<1000))])
        }
        if ids.count > 20, let id = ids.randomElement() { try writer.delete(id, in: "wells") }
      }
      do throws(FieldpackError) {
        _ = try await SyncRun(of: store, with: peer, batch: 3).run()
        show("synchronised")
      } catch {
        show("\(error)")
      }
    }
  }

  /// `pending FILE.gpkg LAYER ROUNDS`: reads the first 1,000 edits that are pending, so many times, and
  /// shows the seconds, the count and the sum of their numbers.
  private static func readPending(
    _ path: String, _ layer: LayerID, rounds: Int
  ) async throws {
    let store = try await GeoPackageStore(path: path, id: "field")
    var (count, sum) = (0, Int64(0))
    let start = ContinuousClock.now
    for _ in 0..<rounds {
      let edits = try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        try snapshot.existingLog(of: layer).log.pending(limit: 1000)
      }
      count += edits.count
      for edit in edits { sum += edit.number }
    }
    showFigures(since: start, count, sum)
    await store.close()
  }

  /// `edits FILE.gpkg LAYER COUNT`: gives the features 1 to COUNT another number each, in transactions
  /// of 1,000, and shows the seconds.
  private static func edit(
    _ layer: LayerID, of store: GeoPackageStore, count: Int
  ) async throws {
    let start = ContinuousClock.now
    for first in stride(from: 1, through: count, by: 1000) {
      let ids = first..<min(first + 1000, count + 1)
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        for id in ids {
          let number = Int64(id)
          try writer.update(.integer(number), in: layer, set: ["num": .integer(number)])
        }
      }
    }
    showFigures(since: start, count, 0)
  }

  /// Shows a line that `Benchmarks/compare` reads.
  private static func showFigures(
    since start: ContinuousClock.Instant, _ count: Int, _ sum: Int64
  ) {
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    show("{\"seconds\":\(seconds),\"count\":\(count),\"checksum\":[\(sum)]}")
  }

  /// `receive FILE.gpkg PIPE`: a receiver of motion without a network.
  ///
  /// The pipe brings bodies, one a line; an empty line ends a group. Each group gives one line when
  /// it is stored: the status and body of each answer, between tabs.
  private static func receive(from pipe: String, into store: GeoPackageStore) async throws {
    let receiver = MotionReceiver(store)
    let input = open(pipe, O_RDONLY | O_CLOEXEC)
    var lines = LineBuffer(limit: MotionRequest.maximumLength)
    var group: [[UInt8]] = []
    while try lines.fill({ room in max(0, read(input, room.baseAddress, room.count)) }) > 0 {
      while let line = lines.next() {
        guard case .text(let range) = line else { continue }
        let body = lines.withBytes(range) { Array($0) }
        guard body.isEmpty else {
          group.append(body)
          continue
        }
        let responses = try await receiver.answer(group, at: FieldClock.system.unixSeconds)
        group = []
        show(responses.map { "\($0.status) \($0.body)" }.joined(separator: "\t"))
      }
    }
  }

  /// `record FILE.gpkg SESSION`: keeps samples whose numbers are their own, and shows how many are
  /// stored.
  private static func record(_ session: String, into store: GeoPackageStore) async throws {
    let clock = FieldClock(
      wall: { .seconds(FieldClock.system.unixSeconds) }, uptime: { FieldClock.system.uptime },
      sleep: { _ in try await Task.sleep(for: .milliseconds(1)) })
    let recorder = MotionRecorder(
      store, device: .init(systemName: "", systemVersion: "", name: "", model: ""),
      session: session, clock: clock, onStored: { show("\($0)") })
    for number in 0..<100_000 {
      let value = Double(number)
      let reading = MotionReading(rotation: .init(x: value, y: -value, z: value / 7))
      try await recorder.keep([MotionSample(time: 10 + value / 50, reading: reading)])
      try await Task.sleep(for: .microseconds(100))
    }
  }
}
