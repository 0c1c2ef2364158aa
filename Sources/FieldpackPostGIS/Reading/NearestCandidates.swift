#if PostGIS
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackProjection
  import FieldpackStoreKit
  import FieldpackTopology

  /// The features of one layer that may be in the answer to a query that works on geometries or sorts by
  /// distance.
  struct NearestCandidates {
    private let layer: LayerPlan
    private let query: Query
    private let connection: PostgresConnection
    private let catalogue: PostGISCatalogue

    init(
      _ layer: LayerPlan, _ query: Query, _ connection: PostgresConnection,
      _ catalogue: PostGISCatalogue
    ) {
      self.layer = layer
      self.query = query
      self.connection = connection
      self.catalogue = catalogue
    }

    /// The query for the candidates: all columns of the layer, in its own system.
    func candidates() throws(FieldpackError) -> Query {
      var filter = query.filter
      if let target = query.nearest, let distance = try farthest(target) {
        filter =
          filter
          && .test(.within(distance, target.metric), target.geometry, srs: target.srs)
      }
      if let clip = query.operations.clip, let box = clip.area.envelope {
        filter = filter && .envelope(.intersects, box, srs: clip.srs)
      }
      return Query(layer.name, where: filter).skippingErrors(query.skipsErrors)
    }

    // MARK: Distances

    /// The distance within which all features of the answer are; `nil` where no bound is known.
    ///
    /// The index gives as many features as are wanted, the nearest in the plane. The farthest of them,
    /// measured as the query asks, is a bound: no feature beyond it is among the nearest. A clip may drop
    /// these features or move them away, so that there is no bound.
    private func farthest(_ target: NearestTarget) throws(FieldpackError) -> Double? {
      let maximum = target.maximum.flatMap { $0.isFinite ? $0 : nil }
      guard query.operations.clip == nil, let count = query.rowsNeeded, count <= 10_000,
        let geometry = layer.layer.geometry,
        geometry.hasIndex, !geometry.isGeography, !target.geometry.isEmpty
      else { return maximum }
      let placing = LiteralPlacing(
        layer: layer.name, srs: layer.layer.schema.geometry?.srs ?? .undefinedCartesian,
        reference: layer.layer.reference, transformations: TransformationCache())
      let literal = try placing.geometry(target.geometry, target.srs)
      let measure = try Measure(literal, target.metric, layer.layer.reference, layer.name)
      var distances: [Double] = []
      let cursor = PostgresCursor(
        connection, statement(WKB.bytes(of: literal), geometry), rowBytes: layer.layer.rowBytes)
      let fields = RowFields(count: layer.reading.types.count)
      let row = PostGISRow(fields, layer.reading.whole.withGeometry)
      while distances.count < count, try cursor.next(into: fields) {
        if let rest = layer.rest, try rest.evaluate(row) != true { continue }
        if let distance = try measure.distance(to: row) { distances.append(distance) }
      }
      try cursor.close()
      guard distances.count >= count, let most = distances.max() else { return maximum }
      // The same distance may be rounded otherwise by another computation.
      let bound = most * (1 + 1e-9) + 1e-9
      return min(bound, maximum ?? bound)
    }

    /// The features in the order of the index, nearest in the plane first.
    private func statement(
      _ wkb: [UInt8], _ geometry: PostGISLayer.GeometrySource
    ) -> (sql: String, values: [PostgresValue]) {
      let columns =
        [layer.layer.idExpression, layer.layer.geometrySQL]
        + layer.fetched.map { layer.layer.columns[$0].expression }
      var sql: SQLPart = "SELECT \(columns.joined(separator: ", ")) FROM \(layer.layer.source)"
      if let test = layer.condition.sql { sql += " WHERE \(test)" }
      sql += """
         ORDER BY \(geometry.quoted) <-> \
        ST_GeomFromWKB(\(bind: .bytes(wkb)), \(Int(geometry.srid)))
        """
      return sql.statement
    }

    /// Measures distances from one geometry.
    private struct Measure {
      private enum Kind {
        case planar(PreparedGeometry)
        case geodesic(GeodesicShape, GeodesicSystem)
      }

      private let kind: Kind

      init(
        _ literal: Geometry, _ metric: DistanceMetric, _ reference: SRSReference, _ layer: LayerID
      ) throws(FieldpackError) {
        do {
          switch metric {
          case .planar:
            kind = .planar(try PreparedGeometry(literal, in: TopologyContext()))
          case .geodesic:
            let system = try GeodesicSystem(reference)
            kind = .geodesic(
              try system.shape(of: WKB.bytes(of: literal).span.bytes), system)
          }
        } catch {
          throw FieldpackError(
            .invalidArgument, "distances cannot be measured from the geometry: \(error)",
            location: .init(layer: layer), underlying: error)
        }
      }

      /// `nil` where the row has no geometry, or one that cannot be measured.
      func distance(to row: PostGISRow) throws(FieldpackError) -> Double? {
        let distance = row.withGeometry { span -> Double? in
          switch kind {
          case .planar(let prepared): (try? prepared.distance(to: span)) ?? nil
          case .geodesic(let shape, let system):
            (try? system.shape(of: span)).flatMap { $0.distance(to: shape) }
          }
        }
        return distance ?? nil
      }
    }
  }

  extension GeometryOperations.Clip.Area {
    fileprivate var envelope: Envelope? {
      switch self {
      case .box(let box): box
      case .polygons(let geometry): geometry.envelope
      }
    }
  }
#endif
