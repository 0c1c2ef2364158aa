import FieldpackCore
import FieldpackGeometry

/// What the shapes of a file have in common: the layer that holds them has it.
struct ShapesSeen: Sendable {
  /// The type that holds all of them; `nil` where none has positions.
  private(set) var type: GeometryType?
  private(set) var dimensions = DimensionsSeen()

  mutating func note(_ shape: borrowing ShapeRecord) {
    guard let shapeType = shape.type else { return }
    hold(shapeType)
    dimensions.insert(shape.dimensions)
  }

  mutating func note(_ other: ShapesSeen) {
    if let otherType = other.type { hold(otherType) }
    dimensions.insert(other.dimensions)
  }

  private mutating func hold(_ other: GeometryType) {
    type = type.map { GeometryType.holding($0, other) } ?? other
  }
}

/// Looks at all shapes for their types, before the first row is made: one of many parts among a million
/// makes another layer.
struct ShapeSurvey: Sendable {
  private let layer: LayerID
  private let skipsErrors: Bool

  /// How many shapes are worth another thread, and after how many the survey looks whether it is to end.
  private static let step = 4096

  init(_ options: ReadOptions) { (layer, skipsErrors) = (options.layer, options.skipsErrors) }

  /// Another thread looks at the second half of a large file.
  ///
  /// - Parameter check: called now and then; throws to stop.
  func run(
    _ shapes: ByteInput, _ index: ByteInput?, check: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) -> ShapesSeen {
    var cursor = try ShapeCursor(shapes, index: index)
    guard let index, let count = cursor.count, count >= 2 * Self.step else {
      return try look(&cursor, check)
    }
    let isStopped = Locked(false)
    defer { isStopped.change { $0 = true } }
    let other = try start(count / 2..<count, try shapes.another(), try index.another(), isStopped)
    cursor.keep(0..<count / 2)
    var seen = try look(&cursor, check)
    seen.note(try other.wait { $0 }.get())
    return seen
  }

  /// Looks at a part of the shapes on a thread of its own, which has the inputs for itself.
  private func start(
    _ part: Range<Int>, _ shapes: ByteInput, _ index: ByteInput,
    _ isStopped: Locked<Bool>
  ) throws(FieldpackError) -> Locked<Result<ShapesSeen, FieldpackError>?> {
    nonisolated(unsafe) let (shapes, index) = (shapes, index)
    let outcome = Locked<Result<ShapesSeen, FieldpackError>?>(nil)
    let isRunning = SystemThread.start {
      let found = Result { () throws(FieldpackError) in
        var cursor = try ShapeCursor(shapes, index: index)
        cursor.keep(part)
        return try look(&cursor) { () throws(FieldpackError) in
          if isStopped.withLock(\.self) { throw FieldpackError(.interrupted, "interrupted") }
        }
      }
      outcome.change { $0 = found }
    }
    guard isRunning else { throw SystemThread.shortage }
    return outcome
  }

  private func look(
    _ cursor: inout ShapeCursor, _ check: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) -> ShapesSeen {
    var seen = ShapesSeen()
    var shape = ShapeRecord(isMeasured: false)
    while true {
      do throws(FieldpackError) {
        guard let content = try cursor.nextRecord() else { return seen }
        try shape.read(content)
        seen.note(shape)
      } catch {
        guard skipsErrors else { throw cursor.located(error, in: layer) }
      }
      if cursor.record % Self.step == 0 { try check() }
    }
  }
}
