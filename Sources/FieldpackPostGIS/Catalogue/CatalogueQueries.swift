/// The questions to PostgreSQL's own catalogue. `$1` is the schema's name.
enum CatalogueQueries {
  /// Tables and views that may be read, in the order in which they were made. Partitions answer through
  /// their table, and the tables of extensions are none of the user's. The size is that of the last
  /// VACUUM, because asking for the present one would wait for whoever has locked a table.
  static let tables = """
    SELECT c.oid, c.relname, c.relkind::text, c.reltuples::float8,
      obj_description(c.oid, 'pg_class'), has_table_privilege(c.oid, 'SELECT'),
      CASE WHEN c.relkind IN ('r', 'm') AND c.relpages > 0 THEN current_setting('block_size')::int8
        * (c.relpages + coalesce((SELECT t.relpages FROM pg_class t
          WHERE t.oid = c.reltoastrelid), 0)) END, row_security_active(c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass
        AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY c.oid
    """

  /// The columns of these, with the type below all domains.
  static let columns = """
    WITH RECURSIVE found AS (
      SELECT a.attrelid, a.attnum, a.atttypid AS type, a.atttypmod AS modifier, t.typtype,
        t.typbasetype, t.typtypmod, t.typcategory, t.typname, t.typnamespace
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = a.atttypid
      WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0
        AND NOT a.attisdropped
      UNION ALL
      SELECT f.attrelid, f.attnum, t.oid, f.typtypmod, t.typtype, t.typbasetype, t.typtypmod,
        t.typcategory, t.typname, t.typnamespace
      FROM found f JOIN pg_type t ON t.oid = f.typbasetype WHERE f.typtype = 'd')
    SELECT f.attrelid, f.attnum, a.attname, f.type, f.modifier,
      format_type(a.atttypid, a.atttypmod), f.typcategory = 'A', a.attnotnull,
      a.attgenerated <> '' OR a.attidentity = 'a',
      coalesce(pg_get_expr(d.adbin, d.adrelid), CASE WHEN a.attidentity <> '' THEN 'identity' END),
      col_description(f.attrelid, f.attnum),
      CASE WHEN e.extname IS NOT NULL THEN f.typname END
    FROM found f JOIN pg_attribute a ON a.attrelid = f.attrelid AND a.attnum = f.attnum
      LEFT JOIN pg_attrdef d ON d.adrelid = f.attrelid AND d.adnum = f.attnum
      LEFT JOIN pg_extension e ON e.extnamespace = f.typnamespace AND e.extname = 'postgis'
        AND f.typname IN ('geometry', 'geography', 'raster', 'box2d', 'box3d')
    WHERE f.typtype <> 'd' ORDER BY f.attrelid, f.attnum
    """

  /// The keys, and the columns that a spatial index is on.
  static let indexes = """
    SELECT i.indrelid, i.indisprimary, i.indisunique, am.amname = 'gist',
      (SELECT json_agg(a.attname ORDER BY k.place) FROM unnest(i.indkey) WITH ORDINALITY
        AS k(number, place) JOIN pg_attribute a ON a.attrelid = i.indrelid
        AND a.attnum = k.number WHERE k.place <= i.indnkeyatts)::text,
      i.indnkeyatts
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am am ON am.oid = x.relam
    WHERE n.nspname = $1 AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
      AND (i.indisunique OR am.amname = 'gist')
    ORDER BY i.indisprimary DESC, i.indexrelid
    """

  /// The SRID that a constraint such as `CHECK (ST_SRID(g) = 3857)` states for a column, with or without
  /// `g IS NULL OR` before it; NULL without one.
  ///
  /// The view `geometry_columns` reads the constraints of all tables of the database, and fails while
  /// someone drops another of them, or where another has a constraint that it does not understand.
  static func constraintSRID(table: String, column: String) -> String {
    """
    (SELECT min((regexp_match(pg_get_expr(k.conbin, k.conrelid),
        '^[(]*([^()=]* IS NULL[)] OR [(]*)?([^()]*[.])?(st_)?srid[(][^=]*[)] = ([0-9]{1,9})[)]*$',
        'i'))[4]::int8)
      FROM pg_constraint k
      WHERE k.conrelid = \(table) AND k.contype = 'c' AND k.conkey = ARRAY[\(column)])
    """
  }
}
