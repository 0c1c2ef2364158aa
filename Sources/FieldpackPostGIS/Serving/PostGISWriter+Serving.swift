#if PostGIS
  import FieldpackCore
  import FieldpackServices

  extension PostGISWriter: ServedWriting {
    func lock(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) {
      do throws(FieldpackError) {
        try step(in: layer, id) { () throws(FieldpackError) in
          let (facts, column) = try writable(layer)
          try connection.execute(
            "SELECT 1 FROM \(try facts.name.sql()) WHERE \(quotedUnchecked(column.name)) = $1 "
              + "FOR UPDATE", [try sent(id, column, layer)])
        }
      } catch {
        guard error.sqlState?.text == "42501" else { throw error }
        // A row is locked by those alone who may update it. Who may only delete locks the table.
        try step(in: layer, id) { () throws(FieldpackError) in
          let (facts, _) = try writable(layer)
          try connection.execute("LOCK TABLE \(try facts.name.sql()) IN EXCLUSIVE MODE")
        }
      }
    }
  }
#endif
