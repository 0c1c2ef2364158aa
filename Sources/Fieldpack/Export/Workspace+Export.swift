public import FieldpackCore
import FieldpackGeometry

extension Workspace {
  /// Writes the features that `query` asks for to a file: all of them, or no file.
  ///
  /// GeoJSON and GPX are in WGS 84 and transformed to it, unless the query asks for another SRS,
  /// which GeoJSON then names in the legacy member `crs`. CSV, FlatGeobuf and GeoPackages keep each layer's SRS.
  /// A GeoPackage keeps layer names, feature ids, columns and geometry types as well. SVG and HTML
  /// show a map of the layers that have a geometry, in the SRS asked for, else in the one that the
  /// layers share, else in WGS 84.
  ///
  ///     let deep = Query("wells", where: Column<Double>("depth") > 80).select("name", "depth")
  ///     var options = ExportOptions()
  ///     options.overwrite = true
  ///     let report = try await workspace.exportFeatures(deep, to: file, options: options)
  ///
  /// - Throws: `.invalidArgument` for several layers in a format that takes one, one layer name in
  ///   two stores, or an output that is an input; `.cannotCreate` for a file that exists, without
  ///   ``ExportOptions/overwrite``; `.interrupted` when the task is cancelled. Without
  ///   ``ExportOptions/skipsErrors`` what a feature or a store that fails throws; the error of a
  ///   store has an ``IncompleteExport`` underneath.
  @discardableResult
  public nonisolated func exportFeatures(
    _ query: Query, to file: String, as format: Format? = nil,
    options: ExportOptions = ExportOptions()
  ) async throws(FieldpackError) -> ExportReport {
    guard let format = format ?? Format.byExtension(file) else {
      throw FieldpackError(
        .invalidArgument, "the format of \(file) is not known",
        position: FilePosition(file: file))
    }
    try refuseInput(as: file)
    return try await export(query, to: .path(file), as: format, options)
  }

  /// Writes the features that `query` asks for to `output` while they are read.
  ///
  /// As ``exportFeatures(_:to:as:options:)-(_,String,_,_)``, but stores that do not answer are
  /// reported and do not stop the others. The caller finishes `output`.
  @discardableResult
  public nonisolated func exportFeatures(
    _ query: Query, to output: ByteOutput, as format: Format,
    options: ExportOptions = ExportOptions()
  ) async throws(FieldpackError) -> ExportReport {
    try await export(query, to: .output(output), as: format, options)
  }

  /// Writes a file for each value of `column` into a folder: all of them, or none.
  ///
  /// A file has the features that share a value. Its name is the value, with `_` for what a name cannot
  /// have on Linux, macOS or Windows; `-2` and so on follow a name that another value has. Features
  /// without a value are in `null`. The folder is made where it is missing.
  ///
  ///     let report = try await workspace.exportFeatures(
  ///       Query("wells"), splitBy: "use", into: folder, as: .geoJSON)
  ///     for file in report.files { print(file.name, file.count) }
  ///
  /// - Parameter format: what can be written feature by feature, which is all but maps.
  /// - Throws: as ``exportFeatures(_:to:as:options:)-(_,String,_,_)``; `.invalidArgument` for several layers,
  ///   more than 10,000 values, and a query with a limit, an offset or an order by distance.
  @discardableResult
  public nonisolated func exportFeatures(
    _ query: Query, splitBy column: String, into folder: String, as format: Format = .geoPackage,
    options: ExportOptions = ExportOptions()
  ) async throws(FieldpackError) -> ExportReport {
    guard let streamed = format.file.exported as? any StreamedFormat else {
      throw FieldpackError(
        .invalidArgument, "\(format.title) is not split by values")
    }
    let run = ExportRun(
      workspace: self, query: query.asked(by: options), options: options)
    return try await ExportLog(options.logger, format: format).running {
      () async throws(FieldpackError) in
      try await run.split(as: streamed, by: column, into: folder)
    }
  }

  private nonisolated func export(
    _ query: Query, to place: ExportPlace, as format: Format, _ options: ExportOptions
  ) async throws(FieldpackError) -> ExportReport {
    guard let exported = format.file.exported else {
      throw FieldpackError(
        .invalidArgument,
        "\(format.title) is read and not written. Try: a file whose name ends with .gpx")
    }
    let run = ExportRun(
      workspace: self, query: query.asked(by: options), options: options)
    return try await ExportLog(options.logger, format: format).running {
      () async throws(FieldpackError) in try await exported.export(run, to: place)
    }
  }

  /// Refuses to write over a file that one of the stores is read from.
  ///
  /// - Throws: `.invalidArgument`.
  public nonisolated func refuseInput(as path: String) throws(FieldpackError) {
    guard let output = FileIdentity(path) else { return }
    for member in members {
      guard let input = try? member.config.localFile(), FileIdentity(input) == output else {
        continue
      }
      throw FieldpackError(
        .invalidArgument,
        "\(path) is the file that store '\(member.id)' is read from", advice: .writeElsewhere,
        location: .init(store: member.id), position: FilePosition(file: path))
    }
  }
}

extension Query {
  /// The query with what the options want of it.
  fileprivate func asked(by options: ExportOptions) -> Query {
    let asked = skippingErrors(options.skipsErrors)
    return options.dialect == .spatialConnect ? asked.withMetadata() : asked
  }
}
