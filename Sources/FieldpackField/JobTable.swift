package import FieldpackCore
package import FieldpackGeoPackage

/// A layer of jobs. All such layers have the same columns, and some have more.
package struct JobTable: Sendable {
  package let layer: LayerID
  /// The type of ``Job/subject``.
  let subject: ColumnType
  private let extra: [ColumnDefinition]

  /// - Parameter extra: columns beyond those of all jobs, which may be NULL.
  package init(_ layer: LayerID, subject: ColumnType, extra: [ColumnDefinition] = []) {
    self.layer = layer
    self.subject = subject
    self.extra = extra
  }

  /// The layer as it is made in new files.
  ///
  /// - Parameter migrations: what leads from older shapes to this one.
  package func definition(
    firstColumns: Set<String> = [], migrations: [Migration] = []
  ) -> FieldLayer {
    FieldLayer(
      Schema(
        layer: layer, idColumn: "id",
        columns: [
          ColumnDefinition("subject", subject, isNullable: false),
          ColumnDefinition("target", .text(), isNullable: false),
        ] + Self.progress + extra),
      indexes: [
        "CREATE INDEX IF NOT EXISTS \(layer)_subject ON \(layer) (subject, target)"
      ], firstColumns: firstColumns, migrations: migrations)
  }

  /// The columns that can be added to a layer of jobs of another shape.
  package static let progress: [ColumnDefinition] = [
    ColumnDefinition(
      "state", .text(), isNullable: false, defaultSQL: "'queued'",
      constraint: ColumnConstraint(
        "fieldpack_job_state", .oneOf(Job.State.allCases.map { .init($0.rawValue) }))),
    ColumnDefinition("attempt", .integer, isNullable: false, defaultSQL: "0"),
    ColumnDefinition("next_at", .dateTime, description: "not to be tried again before"),
    ColumnDefinition("http_status", .integer),
    ColumnDefinition("message", .text()),
    ColumnDefinition("bytes_sent", .integer, isNullable: false, defaultSQL: "0"),
    ColumnDefinition("bytes_total", .integer, isNullable: false, defaultSQL: "0"),
    ColumnDefinition("updated_at", .dateTime),
  ]

  // MARK: Rows

  /// The jobs of all subjects. Rows that lack what a job has are passed over.
  package func all(_ snapshot: GeoPackageSnapshot) throws(FieldpackError) -> [Job] {
    guard try snapshot.schema(of: layer) != nil else { return [] }
    return try snapshot.features(query).compactMap(job)
  }

  /// The job of a subject.
  ///
  /// - Parameter target: `nil` finds a job with any target.
  package func job(
    of subject: Value, with target: String? = nil, _ snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> Job? {
    let filter =
      target.map { isAbout(subject) && Column<String>("target") == $0 } ?? isAbout(subject)
    return try snapshot.features(query.where(filter).limit(1)).first.flatMap(job)
  }

  /// Writes a job's row and gives the job with it.
  ///
  /// - Parameter attributes: of the columns that only this layer has.
  @discardableResult
  package func save(
    _ job: Job, at now: Instant, _ writer: GeoPackageWriter, with attributes: Attributes = [:]
  ) throws(FieldpackError) -> Job {
    var values = attributes
    values["subject"] = job.subject
    values["target"] = .text(job.target)
    values["state"] = .text(job.state.rawValue)
    values["attempt"] = .integer(Int64(job.attempt))
    values["next_at"] = job.next.map(Value.dateTime) ?? .null
    values["http_status"] = job.status.map { .integer(Int64($0)) } ?? .null
    values["message"] = job.message.map(Value.text) ?? .null
    values["bytes_sent"] = .integer(Int64(job.bytesSent))
    values["bytes_total"] = .integer(Int64(job.bytesTotal))
    values["updated_at"] = .dateTime(now)
    var saved = job
    if let row = job.row {
      try writer.update(row, in: layer, set: values)
    } else {
      saved.row = try writer.create(Feature(attributes: values), in: layer)
    }
    return saved
  }

  /// Deletes the jobs of a subject and gives their number. The file may lack the layer.
  @discardableResult
  package func delete(
    of subject: Value, _ writer: GeoPackageWriter
  ) throws(FieldpackError) -> Int {
    guard try writer.schema(of: layer) != nil else { return 0 }
    let rows = try writer.features(Query(layer, where: isAbout(subject)).select([]))
    for row in rows.compactMap(\.id) { try writer.delete(row, in: layer) }
    return rows.count
  }

  private var query: Query {
    Query(layer).select([
      "subject", "target", "state", "attempt", "next_at", "http_status", "message", "bytes_sent",
      "bytes_total",
    ])
  }

  private func isAbout(_ subject: Value) -> Filter {
    .compare(.column("subject"), .equal, .literal(subject))
  }

  private func job(_ row: Feature) -> Job? {
    guard let id = row.id, let subject = row.attributes["subject"], subject != .null else {
      return nil
    }
    // Whoever wrote the row, there is a next attempt.
    func count(_ name: String) -> Int {
      Int(min(max(0, row[Column<Int64>(name)] ?? 0), 1 << 40))
    }
    var job = Job(subject, with: row[Column<String>("target")] ?? "")
    job.row = id
    job.state = row[Column<String>("state")].flatMap(Job.State.init) ?? .queued
    job.attempt = min(count("attempt"), 1 << 30)
    job.next = row[Column<Instant>("next_at")]
    job.status = row[Column<Int64>("http_status")].flatMap { Int(exactly: $0) }
    job.message = row[Column<String>("message")]
    (job.bytesSent, job.bytesTotal) = (count("bytes_sent"), count("bytes_total"))
    return job
  }
}
