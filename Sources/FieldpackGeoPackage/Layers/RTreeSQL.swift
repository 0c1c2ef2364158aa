import FieldpackSQLite

/// The SQL of the R-tree extension (GeoPackage annex F.3) for one geometry column.
package struct RTreeSQL {
  package var table: String
  package let column: String
  package let idColumn: String

  package init(table: String, column: String, idColumn: String) {
    self.table = table
    self.column = column
    self.idColumn = idColumn
  }

  package var name: String { "rtree_\(table)_\(column)" }

  package var create: String {
    "CREATE VIRTUAL TABLE \(quoted(name)) USING rtree(id, minx, maxx, miny, maxy)"
  }

  package static let extensionName = "gpkg_rtree_index"

  private static let suffixes = [
    "insert", "update1", "update2", "update3", "update4", "update5", "update6", "update7",
    // The text of 1.4.0 has these names.
    "update6_old_geom_notnull", "update7_old_geom_null", "delete",
  ]

  /// Every trigger name that any version of the standard has used.
  package var triggerNames: [String] { Self.suffixes.map { "\(name)_\($0)" } }

  package func triggers(_ set: RTreeTriggerSet) -> [String] {
    let (t, c, i, r) = (quoted(table), quoted(column), quoted(idColumn), quoted(name))
    let hasNew = "(NEW.\(c) NOTNULL AND NOT ST_IsEmpty(NEW.\(c)))"
    let lacksNew = "(NEW.\(c) ISNULL OR ST_IsEmpty(NEW.\(c)))"
    let bounds = "ST_MinX(NEW.\(c)), ST_MaxX(NEW.\(c)), ST_MinY(NEW.\(c)), ST_MaxY(NEW.\(c))"
    let put = "INSERT OR REPLACE INTO \(r) VALUES (NEW.\(i), \(bounds));"
    let same = "OLD.\(i) = NEW.\(i) AND"
    let moved = "OLD.\(i) != NEW.\(i) AND"
    let drop = "DELETE FROM \(r) WHERE id = OLD.\(i);"

    func trigger(_ suffix: String, _ event: String, when: String, do body: String) -> String {
      "CREATE TRIGGER \(quoted("\(name)_\(suffix)")) AFTER \(event) ON \(t) WHEN \(when) "
        + "BEGIN \(body) END"
    }
    let touched = "UPDATE OF \(c)"
    let head = [
      trigger("insert", "INSERT", when: "(new.\(c) NOT NULL AND NOT ST_IsEmpty(NEW.\(c)))", do: put)
    ]
    let shared = [
      trigger("update2", touched, when: "\(same) \(lacksNew)", do: drop),
      trigger(
        "update4", "UPDATE", when: "\(moved) \(lacksNew)",
        do: "DELETE FROM \(r) WHERE id IN (OLD.\(i), NEW.\(i));"),
      trigger("delete", "DELETE", when: "old.\(c) NOT NULL", do: drop),
    ]
    switch set {
    case .upTo13:
      return head + [
        trigger("update1", touched, when: "\(same) \(hasNew)", do: put),
        trigger("update3", "UPDATE", when: "\(moved) \(hasNew)", do: "\(drop) \(put)"),
      ] + shared
    case .from14:
      let set =
        "UPDATE \(r) SET minx = ST_MinX(NEW.\(c)), maxx = ST_MaxX(NEW.\(c)), "
        + "miny = ST_MinY(NEW.\(c)), maxy = ST_MaxY(NEW.\(c)) WHERE id = NEW.\(i);"
      return head + [
        trigger(
          "update6", touched,
          when: "\(same) \(hasNew) AND (OLD.\(c) NOTNULL AND NOT ST_IsEmpty(OLD.\(c)))", do: set),
        trigger(
          "update7", touched,
          when: "\(same) \(hasNew) AND (OLD.\(c) ISNULL OR ST_IsEmpty(OLD.\(c)))",
          do: "INSERT INTO \(r) VALUES (NEW.\(i), \(bounds));"),
        trigger("update5", "UPDATE", when: "\(moved) \(hasNew)", do: "\(drop) \(put)"),
      ] + shared
    }
  }
}
