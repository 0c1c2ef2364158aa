import FieldpackCore
import FieldpackSQLite

/// Gives a query's answer in pieces, which the pool's readers fill at once.
///
/// Dropping the scan ends the readers' work.
final class PieceScan<Piece: PieceSink>: Sendable {
  private let work: PieceWork<Piece>

  init(
    pools: StorePools, _ request: PieceReaders.Request,
    into make: @escaping @Sendable () -> Piece
  ) {
    work = PieceWork(pools: pools, request, into: make)
  }

  deinit { work.end() }

  /// Throws where the store was closed.
  func checkEnding() throws(FieldpackError) { try work.exchange.checkEnding() }

  func next() async throws(FieldpackError) -> Piece? {
    work.start()
    do throws(FieldpackError) {
      return try await work.exchange.next()
    } catch {
      work.end()
      throw error
    }
  }
}

/// The readers' side of an answer in pieces. It lives until the last reader is given back.
final class PieceWork<Piece: PieceSink>: OpenCursor {
  let exchange: OrderedChannel<Piece>
  private let pools: StorePools
  private let request: PieceReaders.Request
  private let make: @Sendable () -> Piece
  private let task = Locked<Task<Void, Never>?>(nil)

  init(
    pools: StorePools, _ request: PieceReaders.Request,
    into make: @escaping @Sendable () -> Piece
  ) {
    self.pools = pools
    self.request = request
    self.make = make
    exchange = OrderedChannel(capacity: 8)
  }

  /// Starts the readers; further calls do nothing.
  func start() {
    task.withLock { task in
      if task == nil { task = Task { await self.run() } }
    }
  }

  /// Interrupts the readers. Further calls throw `error`, or give nothing.
  func end(throwing error: FieldpackError? = nil) {
    exchange.stop(throwing: error)
    task.withLock { $0 }?.cancel()
  }

  private func run() async {
    await pools.add(self)
    do throws(FieldpackError) {
      let readers = try await PieceReaders.begin(in: pools.reader(), request)
      await fill(with: readers)
      for lease in readers.leases { await lease.release() }
    } catch {
      exchange.complete(exchange.open(), error)
    }
    exchange.openedAll()
    await pools.remove(self)
  }

  private func fill(with readers: PieceReaders) async {
    let (exchange, request, make, plan) = (exchange, request, make, readers.plan)
    let claims = RangeDispenser(plan.sources)
    await withTaskGroup { group in
      for lease in readers.leases {
        group.addTask {
          do throws(FieldpackError) {
            try await lease.run { (file) throws(FieldpackError) in
              // Drops plans for another state of the file.
              _ = try file.catalogue()
              let planner = QueryPlanner(
                file: file, catalogue: plan.catalogue, query: plan.query,
                report: request.report)
              let filling = PieceFilling(
                planner, plan: plan, claims: claims, exchange: exchange, make: make)
              guard plan.isCutThroughout else { return filling.run() }
              file.connection.withFewPages { filling.run() }
            }
          } catch {
            exchange.complete(exchange.open(), error)
          }
        }
      }
    }
  }

  func stop() { end(throwing: .closedWhileRead(request.store)) }
}
