#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackProjection

  /// The reference systems of a server, by the SRIDs that they have there.
  enum ServerSRS {
    /// The SRID of a system; one that the server lacks is added with PROJ's definition, under its code
    /// where that is free.
    ///
    /// - Throws: `.invalidArgument` for a system that neither the server nor PROJ knows.
    static func srid(
      of srs: SRS, on connection: PostgresConnection
    ) throws(FieldpackError) -> Int32 {
      if srs.isUndefined { return 0 }
      let found = try connection.execute(
        "SELECT srid FROM spatial_ref_sys WHERE upper(auth_name) = $1 AND auth_srid = $2 "
          + "ORDER BY srid LIMIT 1",
        [.text(srs.organization), .int4(srs.code)])
      if found.count > 0 { return Int32(clamping: found.integer(0, 0) ?? 0) }
      let definition: SRSDefinition
      do throws(ProjectionError) {
        definition = try SRSCatalogue().definition(of: srs)
      } catch {
        throw FieldpackError(
          .invalidArgument, "the reference system \(srs) is not known: \(error.message)",
          underlying: error)
      }
      // 998999 is the largest SRID that PostGIS lets users have.
      let added = try connection.execute(
        """
        INSERT INTO spatial_ref_sys (srid, auth_name, auth_srid, srtext, proj4text)
        SELECT CASE WHEN $2 BETWEEN 1 AND 998999
            AND NOT EXISTS (SELECT 1 FROM spatial_ref_sys WHERE srid = $2) THEN $2
          ELSE (SELECT greatest(max(srid) FILTER (WHERE srid <= 998999), 900000) + 1
            FROM spatial_ref_sys) END, $1::text, $2, $3::text, ''
        RETURNING srid
        """,
        [
          .text(srs.organization), .int4(srs.code),
          .text(definition.wkt1 ?? definition.wkt2),
        ])
      return Int32(clamping: added.integer(0, 0) ?? 0)
    }

    /// The system to which geometries go that are stored in a table; `nil` where they have none there.
    ///
    /// - Throws: `.unsupported` where the server tells no authority of the SRID.
    static func system(
      of facts: TableFacts, _ layer: PostGISLayer, on connection: PostgresConnection
    ) throws(FieldpackError) -> SRS? {
      guard let srid = facts.geometry?.srid, srid != 0 else { return nil }
      if srid == layer.geometry?.srid { return layer.schema.geometry?.srs }
      // An empty table may have its SRID from a constraint alone.
      let found = try connection.execute(
        "SELECT auth_name, auth_srid FROM spatial_ref_sys WHERE srid = $1",
        [.int4(srid)])
      guard found.count > 0, let organization = found.text(0, 0), let code = found.integer(0, 1)
      else {
        throw FieldpackError(
          .unsupported,
          "layer '\(layer.layer)' has the SRID \(srid), of which the server tells no authority")
      }
      return SRS(organization, Int32(clamping: code))
    }
  }
#endif
