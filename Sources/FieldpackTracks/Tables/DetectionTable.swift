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
    var rows = try RowWriter(Self.sql, in: FieldData.detection, writer)
    var next = sequence
    for (detection, position) in zip(detections, positions) {
      try rows.add(PointBlob.bytes(position.x, position.y))
      try rows.add(run)
      try rows.add(next)
      try add(detection, to: &rows)
      let id = try rows.insert()
      try index?.add(id, position.x, position.y)
      next += 1
    }
  }

  private static let sql = RowWriter.insertion(
    into: FieldData.detection,
    [
      "geom", "run_id", "seq", "fix", "kind", "device", "region", "region_text", "time",
      "time_unix", "distance_m",
    ])

  private func add(_ detection: Detection, to rows: inout RowWriter) throws(FieldpackError) {
    try rows.add(detection.fix)
    try rows.add(detection.kind.rawValue)
    try rows.add(detection.device)
    try rows.add(region: detection.region)
    try rows.add(detection.time?.description)
    try rows.add(detection.time?.unixSeconds)
    try rows.add(detection.distance)
  }
}
