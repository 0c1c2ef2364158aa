import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackServices
import FieldpackThreads

/// Features as a GeoPackage.
extension ServerRouter {
  /// The most that are made at a time: each needs a thread and room on the disk.
  static let mostExtracts = 4

  func extract(
    _ asked: ItemsRequest, _ request: ServerRequest, _ fields: HTTPFields
  ) async -> ServerResponse {
    var (asked, fields) = (asked, fields)
    // A file can have any system, so that positions stay as they are stored.
    if !asked.isInAskedSystem, let own = asked.layer.storageCRS { asked.crs = own }
    fields["Content-Crs"] = asked.layer.storageCRS == nil ? nil : "<\(asked.crs.uri)>"
    fields["Content-Type"] = MediaType.geoPackage
    fields["Content-Disposition"] = Self.disposition(of: asked.layer.collectionID)
    guard request.method != "HEAD" else {
      // A stream has no Content-Length, which nobody knows before the file is made.
      let stream = ResponseStream()
      stream.finish()
      return ServerResponse(200, fields: fields, body: .stream(stream))
    }
    guard let place = ExtractPlace.take(among: extracts, most: Self.mostExtracts) else {
      var busy = problem(
        ProblemDocument(503, "Other GeoPackages are being made. Try again soon."), request)
      busy.fields["Retry-After"] = "5"
      return busy
    }
    do throws(FieldpackError) {
      let version = try await published.content.version(of: asked.layer.id)
      let box = try await published.condition(of: asked.box, in: asked.layer, version: version)
      let query = asked.query(limit: asked.limit, box: box)
      let stream: ResponseStream
      if let database = published.database {
        let pending = try ExtractJob.pendingFile()
        try await database.extract(
          query, of: asked.layer.id, isWhole: asked.isWhole, into: pending)
        // Without a name, the file is freed when the process ends, even by a crash.
        FileSystem.remove(pending.path)
        stream = try ExtractJob.stream(of: pending, keeping: place)
      } else {
        let store = try published.store
        stream = try await ExtractJob(
          path: store.path, store: store.id, layer: asked.layer.id, query: query,
          isWhole: asked.isWhole, place: place, reads: { [self] in mayRead($0, request) }
        ).run()
      }
      return ServerResponse(200, fields: fields, body: .stream(stream))
    } catch {
      return problem(error, request, while: .resource)
    }
  }

  /// The name of the file for browsers: in ASCII for old browsers, then as it is (RFC 6266).
  static func disposition(of name: String) -> String {
    let plain = String(
      name.unicodeScalars.map { sign in
        let isLetter = sign.isASCII && sign.properties.isAlphabetic
        return isLetter || "0123456789-_".contains(Character(sign)) ? Character(sign) : "_"
      })
    return "attachment; filename=\"\(plain).gpkg\"; "
      + "filename*=UTF-8''\(PercentText.encode(name)).gpkg"
  }
}

/// The place of one GeoPackage among those that are being made or sent. The end of the object frees it.
final class ExtractPlace: Sendable {
  private let count: Count

  final class Count: Sendable {
    fileprivate let value = Locked(0)
  }

  private init(_ count: Count) { self.count = count }

  /// - Returns: `nil` where all places are taken.
  static func take(among count: Count, most: Int) -> ExtractPlace? {
    let isFree = count.value.withLock { count in
      guard count < most else { return false }
      count += 1
      return true
    }
    return isFree ? ExtractPlace(count) : nil
  }

  deinit { count.value.withLock { $0 -= 1 } }
}

/// The making of one GeoPackage, in a file that ends with its stream.
private struct ExtractJob: Sendable {
  let path: String
  let store: StoreID
  let layer: LayerID
  let query: Query
  let isWhole: Bool
  let place: ExtractPlace
  /// Whether the caller may read a layer.
  let reads: @Sendable (LayerID) -> Bool

  private struct State {
    var isCancelled = false
    var interrupt: (@Sendable () -> Void)?
  }

  /// Makes the file on a thread of its own. A task that is cancelled stops the making.
  func run() async throws(FieldpackError) -> ResponseStream {
    let state = Locked(State())
    let result: Result<ResponseStream, FieldpackError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isRunning = SystemThread.start {
          continuation.resume(
            returning: Result { () throws(FieldpackError) in try make(state) })
        }
        if !isRunning { continuation.resume(returning: .failure(SystemThread.shortage)) }
      }
    } onCancel: {
      let interrupt = state.withLock { state in
        state.isCancelled = true
        return state.interrupt
      }
      interrupt?()
    }
    return try result.get()
  }

  private func make(_ state: Locked<State>) throws(FieldpackError) -> ResponseStream {
    let pending = try Self.pendingFile()
    let extract = try GeoPackageExtract(from: path, store: store, into: pending)
    // Without a name, the file is freed when the process ends, even by a crash.
    FileSystem.remove(pending.path)
    let interrupt = extract.interrupt
    let isCancelled = state.withLock { state in
      state.interrupt = interrupt
      return state.isCancelled
    }
    guard !isCancelled else {
      throw FieldpackError(.interrupted, "the client has closed its connection")
    }
    try extract.run(query, of: layer, isWhole: isWhole, reads: reads)
    return try Self.stream(of: pending, keeping: place)
  }

  static func pendingFile() throws(FieldpackError) -> PendingFile {
    let target = "\(UnnamedFile.usualFolder)/fieldpack-\(RandomID.make()).gpkg"
    return try PendingFile(target: target, overwrite: false)
  }

  static func stream(
    of pending: PendingFile, keeping place: ExtractPlace
  ) throws(FieldpackError) -> ResponseStream {
    ResponseStream(of: try SpillFile(sharing: pending.descriptor), keeping: place)
  }
}
