package import FieldpackCore
package import FieldpackGeometry

/// A property of a collection's features: a column, the geometry or the id.
package struct LayerProperty: Sendable {
  package enum Kind: Sendable {
    /// With whether ids are texts.
    case id(isText: Bool)
    case geometry(GeometryType)
    case attribute(ColumnDefinition)
  }

  package var name: String
  package var kind: Kind
  /// The place among all properties of the layer, beginning with 1.
  package var place: Int

  /// Whether a value can be compared and sorted.
  package var isScalar: Bool {
    switch kind {
    case .id: true
    case .geometry: false
    case .attribute(let column):
      switch column.type {
      case .blob, .json: false
      default: true
      }
    }
  }

  /// Whether conditions can name it; of a blob they can say nothing.
  var isQueryable: Bool {
    if case .attribute(let column) = kind, case .blob = column.type { return false }
    return true
  }
}

extension ServedLayer {
  /// The id first, then the geometry, then the attributes in their order.
  package var properties: [LayerProperty] {
    var found: [(String, LayerProperty.Kind)] = []
    let taken = schema.columns.map(\.name)
    func isFree(_ name: String) -> Bool { !taken.contains { $0.utf8.elementsEqual(name.utf8) } }
    if let id = schema.idColumn, isFree(id) { found.append((id, .id(isText: hasTextIDs))) }
    if let geometry = schema.geometry, isFree(geometry.name) {
      found.append((geometry.name, .geometry(geometry.type)))
    }
    found += schema.columns.map { ($0.name, .attribute($0)) }
    return found.enumerated().map { index, property in
      LayerProperty(name: property.0, kind: property.1, place: index + 1)
    }
  }

  package var queryableProperties: [LayerProperty] { properties.filter(\.isQueryable) }
  package var sortableProperties: [LayerProperty] { properties.filter(\.isScalar) }

  enum SchemaDocument {
    case queryables, schema, sortables
  }

  /// A JSON Schema of Part 5.
  func schemaDocument(
    _ document: SchemaDocument, _ path: [String], _ base: LinkBase
  ) -> JSONValue {
    let listed =
      switch document {
      case .queryables: queryableProperties
      case .schema: properties
      case .sortables: sortableProperties
      }
    let required = document == .schema ? listed.filter(isRequired).map(\.name) : []
    return .members([
      "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": .text(base.href(path)),
      "type": "object", "title": .text(title),
      "description": layer.description.map { .text($0) },
      "properties": .object(
        listed.map { property in
          .init(name: property.name, value: json(property))
        }),
      "required": .unlessEmpty(required), "additionalProperties": false,
    ])
  }

  /// Whether a new feature must have a property.
  private func isRequired(_ property: LayerProperty) -> Bool {
    switch property.kind {
    case .id: takesIDs
    case .geometry: false
    case .attribute(let column):
      !column.isNullable && !hasDefault(column) && !column.isGenerated
    }
  }

  /// Whether a new feature gets a value for a column that it has none for.
  func hasDefault(_ column: ColumnDefinition) -> Bool {
    column.defaultSQL != nil || computedDefaults.contains(column.name)
  }

  private func json(_ property: LayerProperty) -> JSONValue {
    guard case .attribute(let column) = property.kind else {
      return property.json(isInstant: false, takesIDs: takesIDs)
    }
    return property.json(isInstant: column == instantColumn, takesIDs: takesIDs)
  }
}

extension LayerProperty {
  /// The property as JSON Schema.
  ///
  /// NULL is left unsaid, because the schemas describe features as such and not their encoding:
  /// whatever is not required may be null or missing.
  fileprivate func json(isInstant: Bool, takesIDs: Bool) -> JSONValue {
    let place: JSONValue = .integer(Int64(self.place))
    switch kind {
    case .id(let isText):
      return .members([
        "title": "Feature id", "type": isText ? "string" : "integer",
        "readOnly": takesIDs ? nil : true, "x-ogc-role": "id", "x-ogc-propertySeq": place,
      ])
    case .geometry(let type):
      return [
        "title": "Geometry", "format": .text("geometry-" + type.schemaName),
        "x-ogc-role": "primary-geometry", "x-ogc-propertySeq": place,
      ]
    case .attribute(let column):
      guard
        case .object(let members) = JSONValue.members([
          "title": column.title.map { .text($0) }, "description": column.schemaDescription,
          "readOnly": column.isGenerated ? true : nil,
          "x-ogc-role": isInstant ? "primary-instant" : nil, "x-ogc-propertySeq": place,
        ])
      else { return [:] }
      // A bound of the constraint stands for that of the type.
      let constraint = column.constraintMembers
      let type = column.typeMembers.filter { member in
        !constraint.contains { $0.name == member.name }
      }
      return .object(type + constraint + members)
    }
  }
}

extension ColumnDefinition {
  fileprivate var typeMembers: [JSONValue.Member] {
    var members: [(String, JSONValue)] = [
      // Text that is no JSON after all is given as a text.
      (
        "type",
        type == .json ? ["object", "array", "string", "number", "boolean"] : .text(schemaType)
      )
    ]
    switch type {
    case .tinyInt, .smallInt, .mediumInt:
      members += [
        ("minimum", .integer(type.integers.lowerBound)),
        ("maximum", .integer(type.integers.upperBound)),
      ]
    case .text(let length?): members.append(("maxLength", JSONValue(length)))
    case .date: members.append(("format", "date"))
    case .dateTime: members.append(("format", "date-time"))
    case .blob:
      members.append(("contentEncoding", "base64"))
      if let mediaType { members.append(("contentMediaType", .text(mediaType))) }
    default: break
    }
    return members.map { .init(name: $0.0, value: $0.1) }
  }

  private var schemaType: String {
    switch type {
    case .boolean: return "boolean"
    case .tinyInt, .smallInt, .mediumInt, .integer: return "integer"
    case .float, .double: return "number"
    case .text, .blob, .date, .dateTime: return "string"
    case .json: return "object"
    case .other(let declared):
      // As SQLite finds the affinity of a declared type.
      let upper = declared.uppercased()
      if upper.contains("INT") { return "integer" }
      if ["CHAR", "CLOB", "TEXT", "BLOB"].contains(where: upper.contains) { return "string" }
      return declared.isEmpty ? "string" : "number"
    }
  }

  private var isNumber: Bool { ["integer", "number"].contains(schemaType) }

  /// The constraint as JSON Schema; a pattern, and a range of dates, is told in the description
  /// alone.
  fileprivate var constraintMembers: [JSONValue.Member] {
    switch constraint?.rule {
    case .oneOf(let members):
      let values: [JSONValue] = members.compactMap { member in
        guard isNumber else { return .text(member.value) }
        if let integer = Int64(member.value) { return .integer(integer) }
        return Double(member.value).flatMap { $0.isFinite ? .real($0) : nil }
      }
      return values.isEmpty ? [] : [.init(name: "enum", value: .array(values))]
    case .range(let low, let high):
      guard isNumber else { return [] }
      return [
        low?.member("minimum", exclusive: "exclusiveMinimum"),
        high?.member("maximum", exclusive: "exclusiveMaximum"),
      ].compactMap { $0 }
    case .glob, nil: return []
    }
  }

  fileprivate var schemaDescription: JSONValue? {
    let texts = [
      description, constraint?.description, constraint.map { "Allowed: \($0.summary)." },
    ]
    .compactMap { $0 }.filter { !$0.isEmpty }
    return texts.isEmpty ? nil : .text(texts.joined(separator: " "))
  }
}

extension ColumnConstraint.Bound {
  /// The bound in JSON Schema; `nil` where it is no number.
  fileprivate func member(_ name: String, exclusive: String) -> JSONValue.Member? {
    let number: JSONValue? =
      switch value {
      case .integer(let value): .integer(value)
      case .real(let value) where value.isFinite: .real(value)
      default: nil
      }
    return number.map { .init(name: isInclusive ? name : exclusive, value: $0) }
  }
}

extension GeometryType {
  /// The name in the formats of Part 5, of what GeoJSON makes of curves and surfaces.
  fileprivate var schemaName: String {
    switch self {
    case .geometry: "any"
    case .point: "point"
    case .lineString, .circularString, .compoundCurve, .curve: "linestring"
    case .polygon, .curvePolygon, .surface, .triangle: "polygon"
    case .multiPoint: "multipoint"
    case .multiLineString, .multiCurve: "multilinestring"
    case .multiPolygon, .multiSurface, .polyhedralSurface, .tin: "multipolygon"
    case .geometryCollection: "geometrycollection"
    }
  }
}
