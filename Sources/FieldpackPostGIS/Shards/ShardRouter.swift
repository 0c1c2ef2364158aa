#if PostGIS
  import FieldpackCore

  /// Brings rows to the tables of their places, each by COPY to its server.
  ///
  /// A server works on the rows that it got while the next ones go to the others: the end of a COPY is
  /// waited for when its server is needed again.
  struct ShardRouter {
    private struct Target {
      let part: ShardPart
      let copy: String
      var bytes: [UInt8] = []
    }

    private let connections: ShardConnections
    private var targets: [Target] = []
    /// The servers that may still work on a COPY.
    private var busy: Set<String> = []
    private(set) var count = 0

    /// About so many bytes are sent at a time, as many as wait for a server without keeping this side.
    private static let size = 1 << 18

    /// - Parameters:
    ///   - schema: of the tables, on all servers.
    ///   - columns: of the rows, in their order, quoted.
    init(
      _ parts: [ShardPart], of schema: String, columns: [String], _ connections: ShardConnections
    ) throws(FieldpackError) {
      self.connections = connections
      for part in parts {
        let table = try TableName(schema: schema, table: part.table).sql()
        let copy =
          "COPY \(table) (\(columns.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
        targets.append(Target(part: part, copy: copy))
      }
    }

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - number: of its place on the curve.
    ///   - write: appends the row as COPY has it.
    mutating func add(
      _ number: Int64, _ write: (inout [UInt8]) -> Void
    ) throws(FieldpackError) {
      let index = target(of: number)
      write(&targets[index].bytes)
      count += 1
      if targets[index].bytes.count >= Self.size { try send(index) }
    }

    /// The last part whose range begins at the number or below.
    private func target(of number: Int64) -> Int {
      var (low, high) = (0, targets.count - 1)
      while low < high {
        let middle = (low + high + 1) / 2
        if targets[middle].part.range.lowerBound <= number {
          low = middle
        } else {
          high = middle - 1
        }
      }
      return low
    }

    /// Sends what is left, and waits for all servers.
    mutating func finish() throws(FieldpackError) {
      for index in targets.indices { try send(index) }
      for server in busy.sorted() { try settle(server) }
    }

    /// Sends what is left for a server, and waits until it has taken all.
    mutating func flush(_ server: String?) throws(FieldpackError) {
      for index in targets.indices where targets[index].part.server == server { try send(index) }
      try settle(server)
    }

    /// Waits until a server has taken the rows that it got.
    mutating func settle(_ server: String?) throws(FieldpackError) {
      guard let server, busy.remove(server) != nil else { return }
      let connection = try connections.writer(server)
      do throws(FieldpackError) { _ = try connection.endOfCopy() } catch {
        throw error.of(server: server)
      }
    }

    private mutating func send(_ index: Int) throws(FieldpackError) {
      let target = targets[index]
      guard !target.bytes.isEmpty else { return }
      let server = target.part.server
      try settle(server)
      let connection = try connections.writer(server)
      do throws(FieldpackError) {
        let writer = try connection.beginCopy(target.copy)
        do throws(FieldpackError) {
          try writer.write(all: target.bytes[...])
          try connection.closeCopy()
        } catch { throw connection.givenUpCopy(error) }
        if let server { busy.insert(server) } else { _ = try connection.endOfCopy() }
      } catch { throw error.of(server: server) }
      targets[index].bytes.removeAll(keepingCapacity: true)
    }
  }
#endif
