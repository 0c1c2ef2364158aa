package import FieldpackCore
package import FieldpackSQLite

/// A prepared statement of a session; its errors name the file, the layer and the feature.
///
/// An error gets its words where it is caught, so that a row costs no more than with the statement
/// itself.
package struct SessionStatement {
  /// The statement itself, for reading the columns of the current row.
  package let row: Statement
  private let session: GeoPackageSession
  private let layer: LayerID?
  private let feature: FeatureID?

  fileprivate init(
    _ row: Statement, of session: GeoPackageSession, layer: LayerID?, feature: FeatureID?
  ) {
    self.row = row
    self.session = session
    self.layer = layer
    self.feature = feature
  }

  /// Moves to the next row; `false` when there is none.
  package func step() throws(FieldpackError) -> Bool {
    do throws(SQLiteError) { return try row.step() } catch { throw worded(error) }
  }

  /// Runs a statement that returns no rows to its end and resets it for the next run.
  package func run() throws(FieldpackError) {
    do throws(SQLiteError) { try row.run() } catch { throw worded(error) }
  }

  /// As ``run()``, with a blob as one of the parameters. The blob is not copied.
  package func run(lending blob: RawSpan, at index: Int) throws(FieldpackError) {
    do throws(SQLiteError) { try row.run(lending: blob, at: index) } catch { throw worded(error) }
  }

  /// Moves back before the first row; bindings stay.
  package func reset() { row.reset() }

  private func worded(_ error: SQLiteError) -> FieldpackError {
    session.worded(error, layer: layer, feature: feature)
  }

  // MARK: Binding

  package func bind(_ value: Int64?, at index: Int) throws(FieldpackError) {
    guard let value else { return try bindNull(at: index) }
    do throws(SQLiteError) { try row.bind(value, at: index) } catch { throw worded(error) }
  }

  package func bind(_ value: Int?, at index: Int) throws(FieldpackError) {
    try bind(value.map { Int64($0) }, at: index)
  }

  package func bind(_ value: Double?, at index: Int) throws(FieldpackError) {
    guard let value else { return try bindNull(at: index) }
    do throws(SQLiteError) { try row.bind(value, at: index) } catch { throw worded(error) }
  }

  package func bind(_ text: String?, at index: Int) throws(FieldpackError) {
    guard let text else { return try bindNull(at: index) }
    do throws(SQLiteError) { try row.bind(text, at: index) } catch { throw worded(error) }
  }

  package func bind(_ blob: [UInt8], at index: Int) throws(FieldpackError) {
    do throws(SQLiteError) { try row.bind(blob, at: index) } catch { throw worded(error) }
  }

  package func bind(_ value: SQLiteValue, at index: Int) throws(FieldpackError) {
    do throws(SQLiteError) { try row.bind(value, at: index) } catch { throw worded(error) }
  }

  package func bindNull(at index: Int) throws(FieldpackError) {
    do throws(SQLiteError) { try row.bindNull(at: index) } catch { throw worded(error) }
  }

  // MARK: Layers

  /// Moves before the first row of a range of rowids. Its bounds are the last two parameters.
  func restart(_ range: ClosedRange<Int64>) throws(FieldpackError) {
    reset()
    let last = row.parameterCount
    try bind(range.lowerBound, at: last - 1)
    try bind(range.upperBound, at: last)
  }

  /// As ``step()``. An error names the feature whose geometry ended the step; features that an
  /// exact relation had to skip are reported.
  func step(reportingTo report: QueryReport) throws(FieldpackError) -> Bool {
    do throws(SQLiteError) {
      let hasRow = try row.step()
      reportUntested(to: report)
      return hasRow
    } catch { throw session.takeUntested(in: layer).last ?? worded(error) }
  }

  /// As ``step(reportingTo:)``, for a statement that lends its rows.
  func step(
    reportingTo report: QueryReport, lending values: LentValues, to receive: () -> Bool
  ) throws(FieldpackError) -> Bool {
    do throws(SQLiteError) {
      let hasMore = try row.step(lending: values, to: receive)
      reportUntested(to: report)
      return hasMore
    } catch { throw session.takeUntested(in: layer).last ?? worded(error) }
  }

  private func reportUntested(to report: QueryReport) {
    for error in session.takeUntested(in: layer) { report.add(skipped: SkippedFeature(error)) }
    session.reportIndexes(to: report)
  }
}

extension GeoPackageSession {
  /// A statement with its values.
  ///
  /// - Parameters:
  ///   - layer: the layer that errors name, as `feature` is the feature.
  ///   - caching: whether the statement stays prepared for the next time.
  package func prepare(
    _ sql: String, _ values: [SQLiteValue] = [], in layer: LayerID? = nil,
    feature: FeatureID? = nil, caching: Bool = true
  ) throws(FieldpackError) -> SessionStatement {
    do throws(SQLiteError) {
      let statement = try connection.prepare(sql, caching: caching)
      try statement.bind(values)
      return SessionStatement(statement, of: self, layer: layer, feature: feature)
    } catch { throw worded(error, layer: layer, feature: feature) }
  }

  /// A statement that reads a layer. Over a view of the file its steps from row to row are limited.
  func prepare(
    reading table: LayerTable, _ sql: String, _ values: [SQLiteValue]
  ) throws(FieldpackError) -> SessionStatement {
    let statement = try prepare(sql, values, in: table.layer.id)
    if table.layer.isView, !table.isDerived { statement.row.mostStepsToRow = profile.viewSteps }
    return statement
  }

  /// The error for an error of SQLite; it names the file, or the trigger that was refused.
  package func worded(
    _ error: SQLiteError, layer: LayerID? = nil, feature: FeatureID? = nil
  ) -> FieldpackError {
    let location = KeyTuple.Partial(store: store, layer: layer, feature: feature)
    if let refused = triggers?.refusal(error) { return refused.adding(location: location) }
    return FieldpackError(error, path: path, location: location)
  }

  /// Notes in the report what queries since the last call have found of R-trees.
  func reportIndexes(to report: QueryReport) {
    guard !indexes.pendingNotes.isEmpty else { return }
    for note in indexes.pendingNotes.sorted(by: { $0.text < $1.text }) {
      report.add(note: note)
    }
    indexes.pendingNotes = []
  }

  /// The errors for the geometries that exact relations could not test since the last call.
  fileprivate func takeUntested(in layer: LayerID?) -> [FieldpackError] {
    guard let layer else { return [] }
    return relations.takeFailures().map { damaged($0.reason, $0.feature, in: layer) }
  }
}
