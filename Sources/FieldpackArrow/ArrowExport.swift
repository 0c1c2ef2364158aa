import CArrow

/// The strings and lists of a schema, freed with the last schema that refers to them.
private final class SchemaMemory {
  var children: UnsafeMutablePointer<UnsafeMutablePointer<ArrowSchema>?>?
  private var strings: [UnsafeMutableRawPointer] = []

  func string(_ text: String) -> UnsafePointer<CChar> { bytes(Array(text.utf8) + [0]) }

  func bytes(_ bytes: [UInt8]) -> UnsafePointer<CChar> {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 8)
    memory.copyMemory(from: bytes, byteCount: bytes.count)
    strings.append(memory)
    return UnsafePointer(memory.assumingMemoryBound(to: CChar.self))
  }

  deinit {
    for string in strings { string.deallocate() }
    children?.deallocate()
  }
}

extension ArrowLayout {
  /// Fills `schema`, whose release callback frees what it holds.
  func export(to schema: UnsafeMutablePointer<ArrowSchema>) {
    let memory = SchemaMemory()
    let children = UnsafeMutablePointer<UnsafeMutablePointer<ArrowSchema>?>.allocate(
      capacity: fields.count)
    for (index, field) in fields.enumerated() {
      let child = UnsafeMutablePointer<ArrowSchema>.allocate(capacity: 1)
      field.export(to: child)
      children.advanced(by: index).initialize(to: child)
    }
    memory.children = children
    schema.initialize(
      to: ArrowSchema(
        format: memory.string("+s"), name: memory.string(""), metadata: nil, flags: 0,
        n_children: Int64(fields.count), children: children, dictionary: nil,
        release: releaseSchema, private_data: Unmanaged.passRetained(memory).toOpaque()))
  }
}

extension ArrowLayout.Field {
  fileprivate func export(to schema: UnsafeMutablePointer<ArrowSchema>) {
    let memory = SchemaMemory()
    schema.initialize(
      to: ArrowSchema(
        format: memory.string(type.format), name: memory.string(name),
        metadata: metadata.isEmpty ? nil : memory.bytes(encodedMetadata),
        flags: isNullable ? Int64(ARROW_FLAG_NULLABLE) : 0, n_children: 0, children: nil,
        dictionary: nil, release: releaseSchema,
        private_data: Unmanaged.passRetained(memory).toOpaque()))
  }

  /// The number of pairs, then each text after its length, in the machine's byte order.
  private var encodedMetadata: [UInt8] {
    var bytes: [UInt8] = []
    func append(_ number: Int) {
      withUnsafeBytes(of: Int32(truncatingIfNeeded: number)) { bytes.append(contentsOf: $0) }
    }
    append(metadata.count)
    for (key, value) in metadata {
      for text in [key, value] {
        append(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
      }
    }
    return bytes
  }
}

private let releaseSchema: @convention(c) (UnsafeMutablePointer<ArrowSchema>?) -> Void = {
  guard let schema = $0, schema.pointee.release != nil else { return }
  if let children = schema.pointee.children {
    for index in 0..<Int(schema.pointee.n_children) {
      guard let child = children[index] else { continue }
      // A consumer that took a child over has cleared its callback.
      child.pointee.release?(child)
      child.deallocate()
    }
  }
  schema.pointee.release = nil
  if let memory = schema.pointee.private_data {
    Unmanaged<SchemaMemory>.fromOpaque(memory).release()
  }
}

/// The columns that an array refers to, with its list of buffers.
private final class ArrayMemory {
  let columns: ArrowColumns
  var buffers: UnsafeMutablePointer<UnsafeRawPointer?>
  var children: UnsafeMutablePointer<UnsafeMutablePointer<ArrowArray>?>?

  init(_ columns: ArrowColumns, buffers: [UnsafeRawPointer?]) {
    self.columns = columns
    self.buffers = .allocate(capacity: buffers.count)
    self.buffers.initialize(from: buffers, count: buffers.count)
  }

  deinit {
    buffers.deallocate()
    children?.deallocate()
  }
}

extension ArrowColumns {
  /// Fills `array`; the columns live until its release callback, and those of children that were
  /// taken over, have been called.
  func export(to array: UnsafeMutablePointer<ArrowArray>) {
    let memory = ArrayMemory(self, buffers: [nil])
    let children = UnsafeMutablePointer<UnsafeMutablePointer<ArrowArray>?>.allocate(
      capacity: columns.count)
    for (index, column) in columns.enumerated() {
      let child = UnsafeMutablePointer<ArrowArray>.allocate(capacity: 1)
      let buffers = column.buffers
      child.initialize(
        to: Self.array(
          ArrayMemory(self, buffers: buffers), length: column.count, nulls: column.nullCount,
          buffers: buffers.count))
      children.advanced(by: index).initialize(to: child)
    }
    memory.children = children
    array.initialize(to: Self.array(memory, length: count, nulls: 0, buffers: 1))
    array.pointee.n_children = Int64(columns.count)
    array.pointee.children = children
  }

  private static func array(
    _ memory: ArrayMemory, length: Int, nulls: Int, buffers: Int
  ) -> ArrowArray {
    ArrowArray(
      length: Int64(length), null_count: Int64(nulls), offset: 0, n_buffers: Int64(buffers),
      n_children: 0, buffers: memory.buffers, children: nil, dictionary: nil,
      release: releaseArray, private_data: Unmanaged.passRetained(memory).toOpaque())
  }
}

extension ArrowColumn {
  /// Validity, offsets where there are any, values.
  fileprivate var buffers: [UnsafeRawPointer?] {
    let bits = nullCount > 0 ? validity.start.map { UnsafeRawPointer($0) } : nil
    let bytes = values.start.map { UnsafeRawPointer($0) }
    guard let ends = offsets.start else { return [bits, bytes] }
    return [bits, UnsafeRawPointer(ends), bytes]
  }
}

private let releaseArray: @convention(c) (UnsafeMutablePointer<ArrowArray>?) -> Void = {
  guard let array = $0, array.pointee.release != nil else { return }
  if let children = array.pointee.children {
    for index in 0..<Int(array.pointee.n_children) {
      guard let child = children[index] else { continue }
      child.pointee.release?(child)
      child.deallocate()
    }
  }
  array.pointee.release = nil
  if let memory = array.pointee.private_data {
    Unmanaged<ArrayMemory>.fromOpaque(memory).release()
  }
}
