import FieldpackCore

/// A parameter of a query that is not a column's name.
package enum QueryParameter: String, CaseIterable, Sendable {
  case format = "f"
  case limit, offset, after, bbox
  case bboxCRS = "bbox-crs"
  case crs, datetime, filter
  case filterLanguage = "filter-lang"
  case filterCRS = "filter-crs"
  case sortBy = "sortby"
  case properties

  var description: String {
    switch self {
    case .format: "The format of the answer, in place of the Accept field."
    case .limit:
      "The most features in an answer. A larger number than the maximum means the maximum."
    case .offset: "How many features to pass over."
    case .after: "Where the page begins; part of the links to next pages."
    case .bbox:
      "Only features that meet the box: west, south, east and north, or with heights, which are "
        + "ignored. A box with west beyond east crosses the antimeridian."
    case .bboxCRS: "The reference system of bbox, by its URI; else longitude and latitude."
    case .crs: "The reference system of the answer, by its URI; else longitude and latitude."
    case .datetime:
      "Only features of an instant, or of a time such as 2024-01-01T00:00:00Z/.. or "
        + "2024-01-01T00:00:00Z/P1DT2H."
    case .filter: "Only features that meet a condition in CQL2."
    case .filterLanguage: "The encoding of filter."
    case .filterCRS: "The reference system of filter, by its URI; else longitude and latitude."
    case .sortBy: "The order, by names of sortables; a minus before a name turns it round."
    case .properties: "Only these properties."
    }
  }

  /// The parameter in the API document; the format differs from one operation to the next.
  func json(_ options: ServerDocuments.Options, formats: [String] = []) -> JSONValue {
    .members([
      "name": .text(rawValue), "in": "query", "description": .text(description), "required": false,
      "schema": schema(options, formats: formats), "style": "form",
      "explode": false,
    ])
  }

  private func schema(_ options: ServerDocuments.Options, formats: [String]) -> JSONValue {
    switch self {
    case .format: return ["type": "string", "enum": JSONValue(formats)]
    case .limit:
      return [
        "type": "integer", "minimum": 1, "maximum": JSONValue(options.maximumLimit),
        "default": JSONValue(options.defaultLimit),
      ]
    case .offset: return ["type": "integer", "minimum": 0, "default": 0]
    case .bbox:
      let item: JSONValue = ["type": "number"]
      return ["type": "array", "minItems": 4, "maxItems": 6, "items": item]
    case .bboxCRS, .crs, .filterCRS:
      return ["type": "string", "format": "uri", "default": .text(CRSName.crs84.uri)]
    case .after, .datetime, .filter: return ["type": "string"]
    case .filterLanguage:
      return [
        "type": "string", "enum": ["cql2-text", "cql2-json"], "default": "cql2-text",
      ]
    case .sortBy:
      let item: JSONValue = ["type": "string", "pattern": #"^[+-]?[^+\-\s].*$"#]
      return ["type": "array", "minItems": 1, "items": item]
    case .properties: return ["type": "array", "minItems": 1, "items": ["type": "string"]]
    }
  }
}
