import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

@testable import FieldpackGeoPackage

/// A condition in a form of the test's own, from which each evaluator gets it in its language.
indirect enum Condition: Sendable {
  case compare(Field, Comparison, Literal)
  case between(Field, Literal, Literal)
  case isIn(Field, [Literal])
  case isNull(Field)
  case like(Field, String)
  case box(EnvelopeRelation, Envelope)
  /// Index of the geometry among the literals.
  case relation(SpatialRelation, Int)
  case and([Condition])
  case or([Condition])
  case not(Condition)

  enum Field: String, CaseIterable, Sendable { case i, r, t, b, d, m, geom }

  enum Literal: Hashable, Sendable {
    case integer(Int64)
    case real(Double)
    case text(String)
    case boolean(Bool)
    case date(CalendarDate)
    case instant(Instant)
  }
}

extension Condition {
  /// As Fieldpack takes it.
  func filter(_ geometries: [Geometry]) -> Filter {
    switch self {
    case .compare(let field, let comparison, let value):
      .compare(.column(field.rawValue), comparison, .literal(value.value))
    case .between(let field, let low, let high):
      .between(.column(field.rawValue), .literal(low.value), .literal(high.value))
    case .isIn(let field, let list):
      .isIn(.column(field.rawValue), list.map { .literal($0.value) })
    case .isNull(let field): .isNull(.column(field.rawValue))
    case .like(let field, let pattern): .like(.column(field.rawValue), pattern: pattern)
    case .box(let relation, let box): .envelope(relation, box, srs: .wgs84)
    case .relation(let relation, let index):
      .relation(relation, geometries[index], srs: .wgs84)
    case .and(let parts): .and(parts.map { $0.filter(geometries) })
    case .or(let parts): .or(parts.map { $0.filter(geometries) })
    case .not(let part): .not(part.filter(geometries))
    }
  }

  private var isOfAttributes: Bool {
    switch self {
    case .box, .relation: false
    case .and(let parts), .or(let parts): parts.allSatisfy(\.isOfAttributes)
    case .not(let part): part.isOfAttributes
    default: true
    }
  }

  /// What SQLite's own operators know of it; `nil` with anything spatial in it.
  private var attributeSQL: String? {
    switch self {
    case .compare(let field, let comparison, let value):
      "\(field.rawValue) \(comparison.rawValue) \(value.sql)"
    case .between(let field, let low, let high):
      "\(field.rawValue) BETWEEN \(low.sql) AND \(high.sql)"
    case .isIn(let field, let list):
      "\(field.rawValue) IN (\(list.map(\.sql).joined(separator: ", ")))"
    case .isNull(let field): "\(field.rawValue) IS NULL"
    case .like(let field, let pattern):
      "\(field.rawValue) LIKE \(Literal.text(pattern).sql) ESCAPE '\\'"
    default: nil
    }
  }

  /// For SpatiaLite, over the columns of the table and the table `literals`.
  var spatiaLiteSQL: String {
    switch self {
    case .box(let relation, let box):
      switch relation {
      case .intersects:
        "(MbrMaxX(geom) >= \(box.minX) AND MbrMinX(geom) <= \(box.maxX) "
          + "AND MbrMaxY(geom) >= \(box.minY) AND MbrMinY(geom) <= \(box.maxY))"
      case .disjoint: "NOT " + Condition.box(.intersects, box).spatiaLiteSQL
      case .within:
        "(MbrMinX(geom) >= \(box.minX) AND MbrMaxX(geom) <= \(box.maxX) "
          + "AND MbrMinY(geom) >= \(box.minY) AND MbrMaxY(geom) <= \(box.maxY))"
      case .contains:
        "(MbrMinX(geom) <= \(box.minX) AND MbrMaxX(geom) >= \(box.maxX) "
          + "AND MbrMinY(geom) <= \(box.minY) AND MbrMaxY(geom) >= \(box.maxY))"
      }
    case .relation(let relation, let index):
      "(ST_\(relation.rawValue)(geom, (SELECT g FROM literals WHERE k = \(index))) = 1)"
    case .and(let parts): "(\(parts.map(\.spatiaLiteSQL).joined(separator: " AND ")))"
    case .or(let parts): "(\(parts.map(\.spatiaLiteSQL).joined(separator: " OR ")))"
    case .not(let part): "(NOT \(part.spatiaLiteSQL))"
    default: "(\(attributeSQL ?? "NULL"))"
    }
  }

  /// For the script that asks GDAL: attributes as they go to `SetAttributeFilter`, as much at a
  /// time as there is, and the rest as lists.
  var json: String {
    if isOfAttributes { return "[\"where\",\(quotedJSON(spatiaLiteSQL))]" }
    switch self {
    case .box(let relation, let box):
      return "[\"box\",\"\(relation.rawValue)\",\(box.minX),\(box.minY),\(box.maxX),\(box.maxY)]"
    case .relation(let relation, let index):
      return "[\"relation\",\"\(relation.rawValue)\",\(index)]"
    case .and(let parts): return "[\"and\",\(parts.map(\.json).joined(separator: ","))]"
    case .or(let parts): return "[\"or\",\(parts.map(\.json).joined(separator: ","))]"
    case .not(let part): return "[\"not\",\(part.json)]"
    default: return "null"
    }
  }

  private func quotedJSON(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"\(escaped)\""
  }
}

extension Condition.Literal {
  var value: Value {
    switch self {
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    case .text(let text): .text(text)
    case .boolean(let flag): .boolean(flag)
    case .date(let day): .date(day)
    case .instant(let moment): .dateTime(moment)
    }
  }

  var sql: String {
    switch self {
    case .integer(let number): "\(number)"
    case .real(let number):
      number.isFinite ? "\(number)" : number > 0 ? "9e999" : "-9e999"
    case .text(let text): "'\(text.replacing("'", with: "''"))'"
    case .boolean(let flag): flag ? "1" : "0"
    case .date(let day): "'\(day)'"
    case .instant(let moment): "'\(moment)'"
    }
  }
}
