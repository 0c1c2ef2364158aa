#if PostGIS
  import FieldpackCore
  import FieldpackServices

  extension PostGISWriter: ServedWriting {
    func lock(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) {
      try step(in: layer, id) { () throws(FieldpackError) in
        let (facts, column) = try writable(layer)
        try connection.execute(
          "SELECT 1 FROM \(try facts.name.sql()) WHERE \(quotedUnchecked(column.name)) = $1 "
            + "FOR UPDATE", [try sent(id, column, layer)])
      }
    }
  }
#endif
