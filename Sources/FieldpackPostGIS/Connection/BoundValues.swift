#if PostGIS
  /// The parameters of a statement as libpq takes them; the memory lives as long as this object.
  final class BoundValues {
    let types: [UInt32]
    let lengths: [Int32]
    let formats: [Int32]
    let pointers: [UnsafePointer<CChar>?]
    private let memory: UnsafeMutableRawPointer

    init(_ values: [PostgresValue]) {
      types = values.map(\.type)
      lengths = values.map { Int32(clamping: $0.byteCount ?? 0) }
      formats = Array(repeating: 1, count: values.count)
      let size = values.reduce(0) { $0 + ($1.byteCount ?? 0) }
      memory = .allocate(byteCount: max(1, size), alignment: 1)
      var place = memory
      pointers = values.map { value in
        guard let count = value.byteCount else { return nil }
        value.write(to: UnsafeMutableRawBufferPointer(start: place, count: count))
        defer { place += count }
        return UnsafePointer(place.assumingMemoryBound(to: CChar.self))
      }
    }

    deinit { memory.deallocate() }
  }
#endif
