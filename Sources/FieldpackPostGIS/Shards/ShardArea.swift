#if PostGIS
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackProjection

  /// Where the curve of a layer goes, and where its features are.
  struct ShardArea {
    let layer: PostGISLayer
    let connection: PostgresConnection

    /// So many features are enough to know where they are.
    static let mostSampled = 500_000

    /// The key and the sample of a layer that is not divided yet.
    func survey(id: String) throws(FieldpackError) -> (ShardKey, ShardSample) {
      guard let geometry = layer.geometry else {
        throw FieldpackError(.unsupported, "layer '\(layer.layer)' has no geometry column")
      }
      let total = try Self.count(layer.table, on: connection)
      let sides = ShardRows.sides(of: geometry.name)
      var rows = ShardRows()
      var envelopes: [Envelope?] = []
      try connection.copyOut(
        "COPY (SELECT \(sides) FROM \(layer.table)\(Self.sampling(total))) TO STDOUT (FORMAT binary)"
      ) { (bytes) throws(FieldpackError) in
        try rows.read(bytes) { (_, envelope, _) in envelopes.append(envelope) }
      }
      var reach = ShardKey.Reach(width: 0, height: 0)
      if !geometry.isPoint {
        reach.width = Self.most(envelopes.compactMap { $0?.width })
        reach.height = Self.most(envelopes.compactMap { $0?.height })
      }
      let key = ShardKey(area: try area(envelopes), reach: reach, idColumn: id)
      return (key, ShardSample(envelopes.map { key.number($0) }, total: total))
    }

    /// The length that 99 of 100 do not exceed.
    private static func most(_ lengths: [Double]) -> Double {
      let sorted = lengths.filter(\.isFinite).sorted()
      guard !sorted.isEmpty else { return 0 }
      return sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
    }

    static func count(
      _ table: String, on connection: PostgresConnection
    ) throws(FieldpackError) -> Int {
      Int(try connection.execute("SELECT count(*) FROM \(table)").integer(0, 0) ?? 0)
    }

    /// A part of the pages of a large table.
    static func sampling(_ total: Int) -> String {
      guard total > mostSampled else { return "" }
      return " TABLESAMPLE SYSTEM (\(100 * Double(mostSampled) / Double(total)))"
    }

    /// The whole earth in systems of degrees; else the area that the system is meant for; else where
    /// the features are now.
    private func area(_ envelopes: [Envelope?]) throws(FieldpackError) -> Envelope {
      let srs = layer.schema.geometry?.srs ?? .undefinedCartesian
      if let definition = try? SRSCatalogue().definition(of: srs) {
        if definition.isGeographic {
          return Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90)
        }
        let placing = LiteralPlacing(
          layer: layer.layer, srs: srs, reference: layer.reference,
          transformations: TransformationCache())
        if let use = definition.areaOfUse, let boxes = try? placing.boxes(use.envelope, .wgs84) {
          let area = boxes.reduce(into: Envelope.empty) { $0.formUnion($1) }
          if !area.isEmpty, area.width.isFinite, area.height.isFinite { return area }
        }
      }
      let area = envelopes.reduce(into: Envelope.empty) { if let box = $1 { $0.formUnion(box) } }
      guard !area.isEmpty, area.width.isFinite, area.height.isFinite else {
        return Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1)
      }
      return area
    }
  }
#endif
