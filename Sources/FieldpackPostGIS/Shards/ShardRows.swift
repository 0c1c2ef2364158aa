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
#endif
