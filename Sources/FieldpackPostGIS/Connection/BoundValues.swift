#if PostGIS
  /// The parameters of a statement as libpq takes them; the memory lives as long as this object.
  final class BoundValues {
    let types: [UInt32]
    let lengths: [Int32]
    let formats: [Int32]
    let pointers: [UnsafePointer<CChar>?]
    private let memory: UnsafeMutablePointer<CChar>

    init(_ values: [PostgresValue]) {
      let encoded = values.map(\.encoded)
      types = values.map(\.type)
      lengths = encoded.map { Int32(clamping: $0?.count ?? 0) }
      formats = encoded.map { _ in 1 }
      memory = .allocate(capacity: max(1, encoded.reduce(0) { $0 + ($1?.count ?? 0) }))
      var pointers: [UnsafePointer<CChar>?] = []
      var place = memory
      for bytes in encoded {
        guard let bytes else {
          pointers.append(nil)
          continue
        }
        pointers.append(UnsafePointer(place))
        for byte in bytes {
          place.initialize(to: CChar(bitPattern: byte))
          place += 1
        }
      }
      self.pointers = pointers
    }

    deinit { memory.deallocate() }
  }
#endif
