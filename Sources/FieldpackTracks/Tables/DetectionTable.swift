import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackMonitoring
import FieldpackSQLite

/// The rows of `detection` of one run, in one transaction.
struct DetectionTable {
  let writer: GeoPackageWriter
  let run: Int64

  /// The number of the run's next detection.
  func nextSequence() throws(FieldpackError) -> Int {
    let last = try writer.rows(
      "SELECT max(seq) FROM detection WHERE run_id = ?", [.integer(run)])
    return (last.first?[0].int ?? 0) + 1
  }

  /// Stores detections under the numbers from `sequence` on.
  ///
  /// - Parameter positions: where the fix of each was.
  func store(
    _ detections: [Detection], from sequence: Int, at positions: [Position]
  ) throws(FieldpackError) {
    guard !detections.isEmpty else { return }
    let areFinite = positions.allSatisfy { $0.x.isFinite && $0.y.isFinite }
    if detections.count >= Self.many, areFinite {
      try writer.insertPoints(into: FieldData.detection) { (index) throws(FieldpackError) in
        try insert(detections, from: sequence, at: positions, index)
      }
    } else {
      try insert(detections, from: sequence, at: positions, nil)
    }
    var grown = Envelope.empty
    for position in positions { grown.formUnion(Envelope(of: position)) }
    try writer.changed(FieldData.detection, growing: grown)
  }

  /// So many that their index is kept without its trigger.
  private static let many = 256

  private func insert(
    _ detections: [Detection], from sequence: Int, at positions: [Position],
    _ index: PointIndex?
  ) throws(FieldpackError) {
    let statement = try writer.prepare(
      "INSERT INTO detection (geom, run_id, seq, fix, kind, device, region, region_text, time, "
        + "time_unix, distance_m) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", in: FieldData.detection
    )
    try statement.bind(run, at: 2)
    var next = sequence
    for (detection, position) in zip(detections, positions) {
      try statement.bind(PointBlob.bytes(position.x, position.y), at: 1)
      try statement.bind(next, at: 3)
      try bind(detection, to: statement)
      try statement.run()
      try index?.add(writer.connection.lastInsertRowID, position.x, position.y)
      next += 1
    }
  }

  private func bind(_ detection: Detection, to statement: SessionStatement) throws(FieldpackError) {
    try statement.bind(detection.fix, at: 4)
    try statement.bind(detection.kind.rawValue, at: 5)
    try statement.bind(detection.device, at: 6)
    try statement.bind(region: detection.region, at: 7)
    try statement.bind(detection.time?.description, at: 9)
    try statement.bind(detection.time?.unixSeconds, at: 10)
    try statement.bind(detection.distance, at: 11)
  }
}
