import FieldpackCore
import FieldpackGeoPackage
import FieldpackServices
import FieldpackTestSupport
import Foundation

/// `serve FILE.gpkg`: the receiver of a synchronisation, on a free port of 127.0.0.1.
struct SyncListener {
  private let server: LoopbackServer

  var address: String { server.address }

  init(_ store: GeoPackageStore) throws {
    let service = SyncService(of: store)
    server = try LoopbackServer(keepsRequests: false) { request in
      guard let response = Self.answer(request, by: service) else { return .nothing }
      return .response(response.status, body: response.body)
    }
  }

  /// Waits on the thread of the connection.
  private static func answer(
    _ request: LoopbackServer.Request, by service: SyncService
  ) -> SyncResponse? {
    let parts = request.target.split(separator: "?", maxSplits: 1).map { String($0) }
    let done = DispatchSemaphore(value: 0)
    let answer = Locked<SyncResponse?>(nil)
    Task.detached {
      let response = await service.respond(
        to: request.method, path: parts[0], query: parts.count > 1 ? parts[1] : "",
        body: request.body)
      answer.withLock { $0 = response }
      done.signal()
    }
    done.wait()
    return answer.withLock { $0 }
  }
}
