#if PostGIS
  import FieldpackCore
  import FieldpackGeometry

  /// The rows of a COPY in the binary form, each behind the four sides of its geometry.
  struct ShardRows {
    private var hasHeader = false

    /// The sides that the server computes.
    static func sides(of geometry: String) -> String {
      let column = quotedUnchecked(geometry)
      return ["ST_XMin", "ST_YMin", "ST_XMax", "ST_YMax"].map { "\($0)(\(column)::geometry)" }
        .joined(separator: ", ")
    }

    /// Gives the row of one piece of data, as libpq lends it: its number of fields behind the sides, the
    /// sides, and the bytes of the other fields.
    mutating func read(
      _ bytes: UnsafeRawBufferPointer,
      _ body: (Int, Envelope?, UnsafeRawBufferPointer) throws(FieldpackError) -> Void
    ) throws(FieldpackError) {
      var offset = 0
      if !hasHeader {
        guard bytes.prefix(11).elementsEqual(CopyEncoder.header.prefix(11)),
          let extra: UInt32 = bytes.big(at: 15), Int(extra) <= bytes.count - 19
        else { throw mistake }
        hasHeader = true
        offset = 19 + Int(extra)
      }
      guard bytes.count > offset else { return }
      guard let fields: Int16 = bytes.big(at: offset) else { throw mistake }
      guard fields >= 0 else { return }
      guard fields >= 4 else { throw mistake }
      offset += 2
      var sides: [Double] = []
      for _ in 0..<4 {
        if let side = try Self.number(bytes, &offset) { sides.append(side) }
      }
      let envelope =
        sides.count == 4
        ? Envelope(minX: sides[0], minY: sides[1], maxX: sides[2], maxY: sides[3]) : nil
      try body(Int(fields) - 4, envelope, UnsafeRawBufferPointer(rebasing: bytes[offset...]))
    }

    private static func number(
      _ bytes: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(FieldpackError) -> Double? {
      guard let length: Int32 = bytes.big(at: offset) else { throw mistake }
      offset += 4
      if length == -1 { return nil }
      guard length == 8, let bits: UInt64 = bytes.big(at: offset) else { throw mistake }
      offset += 8
      return Double(bitPattern: bits)
    }

    private static let mistake = FieldpackError(
      .invalidData, "the rows that the server sends have another form than COPY's")
    private var mistake: FieldpackError { Self.mistake }
  }

  /// Brings rows to the tables of their places, each by COPY to its server.
  struct ShardRouter {
    private struct Target {
      let part: ShardPart
      let copy: String
      var bytes: [UInt8] = []
    }

    private let key: ShardKey
    private let connections: ShardConnections
    private var targets: [Target] = []
    private(set) var count = 0

    /// About so many bytes are sent at a time.
    private static let size = 1 << 20

    /// - Parameter columns: of the rows, in their order, quoted.
    init(
      _ plan: ShardPlan, _ sql: ShardSQL, columns: [String], _ connections: ShardConnections
    ) throws(FieldpackError) {
      key = sql.key
      self.connections = connections
      let names = ([ShardSQL.hilbert] + columns).joined(separator: ", ")
      for part in plan.parts {
        let copy = "COPY \(try sql.table.quoted(part.table)) (\(names)) FROM STDIN (FORMAT binary)"
        targets.append(Target(part: part, copy: copy))
      }
    }

    mutating func add(
      fields: Int, _ envelope: Envelope?, _ rest: UnsafeRawBufferPointer
    ) throws(FieldpackError) {
      let number = key.number(envelope)
      let index = target(of: number)
      targets[index].bytes.append(big: Int16(clamping: fields + 1))
      targets[index].bytes.append(big: Int32(8))
      targets[index].bytes.append(big: number)
      targets[index].bytes.append(contentsOf: rest)
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

    /// Sends what is left.
    mutating func finish() throws(FieldpackError) {
      for index in targets.indices { try send(index) }
    }

    private mutating func send(_ index: Int) throws(FieldpackError) {
      guard !targets[index].bytes.isEmpty else { return }
      let target = targets[index]
      let connection = try connections.writer(target.part.server)
      do throws(FieldpackError) {
        try connection.copyIn(target.copy) { (writer) throws(FieldpackError) in
          for piece in [CopyEncoder.header, target.bytes, CopyEncoder.trailer] {
            let result = piece.withUnsafeBytes { bytes in
              Result { () throws(FieldpackError) in try writer.write(bytes) }
            }
            try result.get()
          }
        }
      } catch { throw error.of(server: target.part.server) }
      targets[index].bytes.removeAll(keepingCapacity: true)
    }
  }
#endif
