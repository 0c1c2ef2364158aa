package import FieldpackCore

/// A column of a table, and how its values are asked for.
package struct PostGISColumn: Hashable, Sendable {
  /// How values of a column come, and compare.
  package enum Kind: Hashable, Sendable {
    case integer, boolean, real, text, blob
    /// A `date`, in days since 2000.
    case date
    /// A `timestamp with time zone`, in microseconds since 2000.
    case instant
  }

  package let name: String
  /// The type below all domains, such as ``PostgresType/int4``.
  package let type: UInt32
  /// The modifier of the type, such as the length of a `varchar`; -1 without one.
  let modifier: Int32
  /// The type as PostgreSQL names it, such as `numeric(8,2)`; that of a domain is its own name.
  package let typeName: String
  /// Whether the type is an array, which reads as JSON.
  package let isArray: Bool
  /// Whether every write leaves the value to the server.
  package let isGenerated: Bool
  package let kind: Kind
  package let columnType: ColumnType
  /// The SQL that gives the value in the form of ``kind``.
  let expression: String
  /// Whether digits may get lost where the value is read as a real.
  let isRounded: Bool

  /// The column itself, quoted.
  package var quoted: String { quotedUnchecked(name) }

  /// Whether the expression is the column itself.
  var isPlain: Bool { expression == quoted }

  /// What the server has to send for the expression.
  var sentTypes: Set<UInt32> {
    switch kind {
    case .integer: [PostgresType.int2, PostgresType.int4, PostgresType.int8]
    case .boolean: [PostgresType.bool]
    case .real: [PostgresType.float4, PostgresType.float8]
    case .text: [PostgresType.text, PostgresType.varchar, PostgresType.name]
    case .blob: [PostgresType.bytea]
    case .date: [PostgresType.date]
    case .instant: [PostgresType.timestamptz]
    }
  }
}

extension PostGISColumn {
  /// - Parameters:
  ///   - type: the type below all domains.
  ///   - isArray: whether that is an array.
  init(
    name: String, type: UInt32, modifier: Int32, typeName: String, isArray: Bool,
    isGenerated: Bool
  ) {
    let column = quotedUnchecked(name)
    let form =
      isArray
      ? Form(.text, .json, "array_to_json(\(column))::text")
      : Form.of(type, modifier, column)
    self.init(
      name: name, type: type, modifier: modifier, typeName: typeName, isArray: isArray,
      isGenerated: isGenerated, kind: form.kind, columnType: form.type,
      expression: form.expression, isRounded: form.isRounded)
  }

  private struct Form {
    var kind: Kind
    var type: ColumnType
    var expression: String
    var isRounded = false

    init(_ kind: Kind, _ type: ColumnType, _ expression: String, isRounded: Bool = false) {
      self.kind = kind
      self.type = type
      self.expression = expression
      self.isRounded = isRounded
    }

    static func of(_ type: UInt32, _ modifier: Int32, _ column: String) -> Form {
      switch type {
      case PostgresType.int2: Form(.integer, .smallInt, column)
      case PostgresType.int4: Form(.integer, .mediumInt, column)
      case PostgresType.int8: Form(.integer, .integer, column)
      case PostgresType.oid: Form(.integer, .integer, "\(column)::int8")
      case PostgresType.float4: Form(.real, .float, column)
      case PostgresType.float8: Form(.real, .double, column)
      case PostgresType.numeric: numeric(modifier, column)
      case PostgresType.bool: Form(.boolean, .boolean, column)
      case PostgresType.bytea: Form(.blob, .blob(), column)
      case PostgresType.date: Form(.date, .date, column)
      case PostgresType.timestamptz: Form(.instant, .dateTime, column)
      case PostgresType.timestamp: Form(.text, .text(), timestamp(column))
      case PostgresType.json, PostgresType.jsonb: Form(.text, .json, "\(column)::text")
      case PostgresType.text, PostgresType.name: Form(.text, .text(), column)
      case PostgresType.varchar:
        Form(.text, .text(maximumLength: modifier > 4 ? Int(modifier) - 4 : nil), column)
      case PostgresType.bpchar:
        Form(.text, .text(maximumLength: modifier > 4 ? Int(modifier) - 4 : nil), "\(column)::text")
      default: Form(.text, .text(), "\(column)::text")
      }
    }

    /// A number of up to 18 digits without a fraction is an integer, one of up to 15 digits a real, and
    /// one of more digits the text of its digits. A number without limits becomes a real.
    private static func numeric(_ modifier: Int32, _ column: String) -> Form {
      guard modifier >= 4 else { return Form(.real, .double, "\(column)::float8", isRounded: true) }
      let precision = (modifier - 4) >> 16 & 0xFFFF
      // Eleven bits with a sign (numeric.c, `numeric_typmod_scale`).
      let scale = (((modifier - 4) & 0x7FF) ^ 1_024) - 1_024
      if scale == 0, precision <= 18 {
        return Form(.integer, .integer, "nullif(\(column), 'NaN')::int8")
      }
      if precision <= 15 { return Form(.real, .double, "\(column)::float8") }
      return Form(.text, .text(), "\(column)::text")
    }

    /// A time without a zone is a text, because a DATETIME has one. The year before 1 is 0 in ISO 8601,
    /// and those before it have a sign and five digits.
    private static func timestamp(_ column: String) -> String {
      let format = "-MM-DD\"T\"HH24:MI:SS."
      return "CASE WHEN isfinite(\(column)) THEN "
        + "CASE WHEN \(column) >= '0001-01-01' THEN to_char(\(column), 'YYYY') "
        + "WHEN \(column) >= '0001-01-01 BC' THEN '0000' "
        + "ELSE '-' || lpad((-1 - extract(year FROM \(column))::int)::text, 5, '0') END "
        + "|| to_char(\(column), CASE "
        + "WHEN date_trunc('milliseconds', \(column)) = \(column) THEN '\(format)MS' "
        + "ELSE '\(format)US' END) ELSE \(column)::text END"
    }
  }
}
