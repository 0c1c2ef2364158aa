import CPROJ

/// An operation of one formula, with no other steps than turning degrees into radians and back.
///
/// PROJ runs such an operation as a pipeline, whose steps cost a quarter (UTM) to a third
/// (Mercator) of the time. Here PROJ's formula is an object of its own, and the angles are
/// multiplied as in PROJ's `unitconvert`, so that results are equal to the bit.
final class DirectOperation {
  private let object: ProjectionObject
  private let direction: PJ_DIRECTION
  private let takesDegrees: Bool
  private let givesDegrees: Bool

  /// PROJ's own value of the constant.
  private static let radiansPerDegree = 0.017453292519943296
  private static let degreesPerRadian = 1 / radiansPerDegree

  private init(_ object: consuming ProjectionObject, _ pipeline: Pipeline) {
    self.object = object
    direction = pipeline.isInverse ? PJ_INV : PJ_FWD
    (takesDegrees, givesDegrees) = (pipeline.takesDegrees, pipeline.givesDegrees)
  }

  /// The direct operation with the same results as `operation`; `nil` where `operation` has other
  /// steps, or stands for several operations from which PROJ chooses for each position.
  static func equal(
    to operation: borrowing ProjectionObject, in context: ProjectionContext
  ) -> DirectOperation? {
    // PROJ gives no definition of an operation that stands for several.
    guard let text = proj_pj_info(operation.handle).definition.map({ String(cString: $0) }),
      let pipeline = Pipeline(text),
      let handle = proj_create(context.handle, pipeline.formula)
    else { return nil }
    let direct = DirectOperation(ProjectionObject(handle), pipeline)
    return direct.equals(operation) ? direct : nil
  }

  /// Transforms positions like `proj_trans_generic`.
  func transform(_ positions: StridedPositions) {
    if takesDegrees { positions.scale(by: Self.radiansPerDegree) }
    positions.transform(by: object, direction)
    if givesDegrees { positions.scale(by: Self.degreesPerRadian) }
  }

  /// Transforms one position, without the arrays.
  func transform(x: Double, y: Double) -> (x: Double, y: Double) {
    let before = takesDegrees ? Self.radiansPerDegree : 1
    let moved = object.transform(x: x * before, y: y * before, direction)
    let after = givesDegrees ? Self.degreesPerRadian : 1
    return (moved.x * after, moved.y * after)
  }

  /// Whether both give the same results for positions all over the world, including failures.
  private func equals(_ operation: borrowing ProjectionObject) -> Bool {
    var expected: [Double] = []
    for x in stride(from: -200.0, through: 200, by: 25) {
      for y in stride(from: -95.0, through: 95, by: 19) {
        let scale = takesDegrees ? 1.0 : 1e5
        expected += [x * scale, y * scale, 100]
      }
    }
    var found = expected
    Self.withPositions(&expected) { $0.transform(by: operation, PJ_FWD) }
    Self.withPositions(&found) { transform($0) }
    return zip(expected, found).allSatisfy { $0.bitPattern == $1.bitPattern }
  }

  private static func withPositions(
    _ ordinates: inout [Double], _ body: (StridedPositions) -> Void
  ) {
    ordinates.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      body(StridedPositions(x: base, y: base + 1, z: base + 2, step: 3, count: buffer.count / 3))
    }
  }
}

/// The definition of a pipeline with one formula between two conversions of the angles' unit.
private struct Pipeline {
  let formula: String
  var isInverse = false
  var takesDegrees = false
  var givesDegrees = false

  init?(_ text: String) {
    guard !text.contains("\"") else { return nil }
    let words = text.split(separator: " ").map { $0.hasPrefix("+") ? $0.dropFirst() : $0 }
    var steps = words.split(separator: "step", omittingEmptySubsequences: false)
    guard steps.first.map(Array.init) == ["proj=pipeline"] else { return nil }
    steps.removeFirst()
    if steps.first.map(Array.init) == ["proj=unitconvert", "xy_in=deg", "xy_out=rad"] {
      steps.removeFirst()
      takesDegrees = true
    }
    if steps.last.map(Array.init) == ["proj=unitconvert", "xy_in=rad", "xy_out=deg"] {
      steps.removeLast()
      givesDegrees = true
    }
    guard steps.count == 1, takesDegrees || givesDegrees else { return nil }
    isInverse = steps[0].contains("inv")
    formula = steps[0].filter { $0 != "inv" }.map { "+\($0)" }.joined(separator: " ")
  }
}
