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

    /// The defaults that layers tell are literals, see ``PlainDefault``.
    func defaultValue(
      _ sql: String, of type: ColumnType
    ) throws(FieldpackError) -> Value {
      if let number = Int64(sql) {
        return type == .boolean ? .boolean(number != 0) : .integer(number)
      }
      if let number = Double(sql) { return .real(number) }
      return .text(String(sql.dropFirst().dropLast()).replacing("''", with: "'"))
    }
  }
#endif
