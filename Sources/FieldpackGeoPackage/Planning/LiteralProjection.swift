import FieldpackCore
import FieldpackGeometry
import FieldpackProjection

/// Transforms the literals of spatial conditions to a layer's SRS, with the file's transformations.
struct LiteralProjection: LiteralProjecting {
  let file: GeoPackageSession
  let catalogue: Catalogue

  func boxes(
    _ box: Envelope, from srs: SRS?, to table: LayerTable
  ) throws(FieldpackError) -> [Envelope] {
    guard box.minY <= box.maxY, !box.minX.isNaN, !box.maxX.isNaN else {
      throw FieldpackError(
        .invalidArgument, "the box is empty: its south lies above its north, or a bound is NaN")
    }
    let layerSRS = table.schema.geometry?.srs ?? .undefinedCartesian
    guard let srs, srs != layerSRS, !layerSRS.isUndefined, !srs.isUndefined else {
      return Self.split(box, isGeographic: (srs ?? layerSRS) == .wgs84)
    }
    let transformation = try file.transformation(from: srs, to: table, in: catalogue)
    do throws(ProjectionError) {
      return try transformation.transform(box)
    } catch {
      throw FieldpackError(error, location: .init(store: file.store, layer: table.layer.id))
    }
  }

  /// A box with west > east crosses the antimeridian (RFC 7946 section 5.2).
  private static func split(_ box: Envelope, isGeographic: Bool) -> [Envelope] {
    guard box.minX > box.maxX else { return [box] }
    guard isGeographic else {
      return [
        Envelope(minX: box.minX, minY: box.minY, maxX: .infinity, maxY: box.maxY),
        Envelope(minX: -.infinity, minY: box.minY, maxX: box.maxX, maxY: box.maxY),
      ]
    }
    return [
      Envelope(minX: box.minX, minY: box.minY, maxX: 180, maxY: box.maxY),
      Envelope(minX: -180, minY: box.minY, maxX: box.maxX, maxY: box.maxY),
    ]
  }

  func geometry(
    _ geometry: Geometry, from srs: SRS?, to table: LayerTable
  ) throws(FieldpackError) -> Geometry {
    let layerSRS = table.schema.geometry?.srs ?? .undefinedCartesian
    guard let srs, srs != layerSRS, !layerSRS.isUndefined, !srs.isUndefined else {
      return geometry
    }
    let transformation = try file.transformation(from: srs, to: table, in: catalogue)
    do throws(ProjectionError) {
      return try transformation.transform(geometry)
    } catch {
      throw FieldpackError(error, location: .init(store: file.store, layer: table.layer.id))
    }
  }
}

extension GeoPackageSession {
  /// The layer's SRS for PROJ: by its code, else by the file's own definition.
  func reference(
    of table: LayerTable, in catalogue: Catalogue
  ) throws(FieldpackError) -> SRSReference {
    let location = KeyTuple.Partial(store: store, layer: table.layer.id)
    guard let srs = table.schema.geometry?.srs, !srs.isUndefined else {
      throw FieldpackError(
        .invalidArgument,
        "layer '\(table.layer.id)' has no defined SRS, so it cannot be transformed",
        location: location)
    }
    do throws(ProjectionError) {
      return try reference(of: srs, in: catalogue.system(table.srsID))
    } catch {
      throw FieldpackError(error, location: location)
    }
  }

  /// An SRS for PROJ: by its code, else by the definition in the file's row.
  func reference(
    of srs: SRS, in row: Catalogue.SystemRow?
  ) throws(ProjectionError) -> SRSReference {
    if srs.isUndefined { return SRSReference(srs) }
    do throws(ProjectionError) {
      _ = try systems.definition(of: srs)
      return SRSReference(srs)
    } catch  where error.kind == .unknownSRS {
      if let wkt2 = row?.wkt2, let reference = try? SRSReference(wkt: wkt2) { return reference }
      return try SRSReference(wkt: row?.definition ?? "")
    }
  }

  func transformation(
    from srs: SRS, to table: LayerTable, in catalogue: Catalogue
  ) throws(FieldpackError) -> CoordinateTransformation {
    let target = try reference(of: table, in: catalogue)
    return try transformation(SRSReference(srs), target, layer: table.layer.id)
  }

  func transformation(
    from table: LayerTable, to srs: SRS, in catalogue: Catalogue
  ) throws(FieldpackError) -> CoordinateTransformation? {
    if table.schema.geometry?.srs == srs { return nil }
    let source = try reference(of: table, in: catalogue)
    return try transformation(source, SRSReference(srs), layer: table.layer.id)
  }

  private func transformation(
    _ source: SRSReference, _ target: SRSReference, layer: LayerID
  ) throws(FieldpackError) -> CoordinateTransformation {
    do throws(ProjectionError) {
      return try transformations.transformation(from: source, to: target)
    } catch {
      throw FieldpackError(error, location: .init(store: store, layer: layer))
    }
  }
}

extension FilterLowering {
  /// Lowers filters on a table of a session's file.
  package init(table: LayerTable, of file: GeoPackageSession, _ catalogue: Catalogue) {
    self.init(table: table, project: LiteralProjection(file: file, catalogue: catalogue))
  }
}
