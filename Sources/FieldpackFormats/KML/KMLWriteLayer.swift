import FieldpackCore
import FieldpackGeometry

/// How the rows of one layer become placemarks.
struct KMLWriteLayer {
  let schema: Schema
  private let id: String
  /// The column of each field that has one.
  private var fields: [KMLField: Int] = [:]
  /// The columns of extended data, with the names that stand in attributes.
  private var data: [(column: Int, name: [UInt8])] = []

  init(_ schema: Schema, number: Int) {
    self.schema = schema
    id = "layer\(number)"
    for (index, column) in schema.columns.enumerated() {
      if let field = KMLField.named(column.name), field.isWritten, fields[field] == nil {
        fields[field] = index
      } else {
        data.append((index, Self.name(of: column)))
      }
    }
  }

  private static func name(of column: ColumnDefinition) -> [UInt8] {
    var name: [UInt8] = []
    XMLText.append(column.name, inAttribute: true, to: &name)
    return name
  }

  // MARK: The head

  /// Begins the layer's document, with its style and schema where it is `isFirst` begun.
  func appendHead(isFirst: Bool, to bytes: inout [UInt8]) {
    bytes += "<Document>\n<name>".utf8
    XMLText.append(schema.layer.rawValue, to: &bytes)
    bytes += "</name>\n".utf8
    guard isFirst else { return }
    if let style = schema.style {
      bytes += "<Style id=\"style-\(id)\">".utf8
      KMLStyleText(style).append(to: &bytes)
      bytes += "</Style>\n".utf8
    }
    guard !data.isEmpty else { return }
    bytes += "<Schema name=\"".utf8
    XMLText.append(schema.layer.rawValue, inAttribute: true, to: &bytes)
    bytes += "\" id=\"\(id)\">\n".utf8
    for (column, name) in data {
      bytes += "<SimpleField type=\"\(Self.type(schema.columns[column].type))\" name=\"".utf8
      bytes += name
      bytes += "\"/>\n".utf8
    }
    bytes += "</Schema>\n".utf8
  }

  private static func type(_ type: ColumnType) -> String {
    switch type {
    case .boolean: "bool"
    case .tinyInt, .smallInt, .mediumInt, .integer: "int"
    case .float: "float"
    case .double: "double"
    default: "string"
    }
  }

  // MARK: Placemarks

  /// Appends a placemark; true where the geometry has an M that is left out.
  func append(
    _ row: borrowing some FeatureRow & ~Copyable, to bytes: inout [UInt8]
  ) throws(FieldpackError) -> Bool {
    // Values that their elements cannot have.
    var others: [Int] = []
    bytes += "<Placemark>".utf8
    for field in [KMLField.name, .visibility, .address, .phoneNumber, .snippet, .description] {
      append(field, row, &others, to: &bytes)
    }
    appendTime(row, &others, to: &bytes)
    appendStyle(row, &others, to: &bytes)
    var (before, settings, after): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
    append(.extrude, row, &others, to: &before)
    append(.tessellate, row, &others, to: &settings)
    append(.altitudeMode, row, &others, to: &after)
    let pointSettings = before + after
    settings = before + settings + after
    appendData(row, others, to: &bytes)
    var dropsM = false
    do {
      _ = try row.withGeometry { span throws(GeometryError) in
        let geometry = try WKB.read(span).linearized()
        var writer = KMLGeometryWriter(
          settings: settings, pointSettings: pointSettings, trackSettings: after)
        swap(&writer.bytes, &bytes)
        defer { swap(&writer.bytes, &bytes) }
        try writer.write(geometry)
        dropsM = writer.dropsM
      }
    } catch {
      throw FieldpackError(
        .invalidData, "the geometry of feature \(row.id): \(error)", underlying: error)
    }
    bytes += "</Placemark>\n".utf8
    return dropsM
  }

  private func append(
    _ field: KMLField, _ row: borrowing some FeatureRow & ~Copyable, _ others: inout [Int],
    to bytes: inout [UInt8]
  ) {
    guard let column = fields[field], row.kind(at: column) != .null else { return }
    let text = self.text(row, column)
    guard field.allows(text) else { return others.append(column) }
    let isGoogles = field == .altitudeMode && text.hasSuffix("SeaFloor")
    let name = isGoogles ? "gx:altitudeMode" : field.elementName
    bytes += "<\(name)>".utf8
    XMLText.append(text, to: &bytes)
    bytes += "</\(name)>".utf8
  }

  private func appendTime(
    _ row: borrowing some FeatureRow & ~Copyable, _ others: inout [Int], to bytes: inout [UInt8]
  ) {
    var span: [UInt8] = []
    append(.begin, row, &others, to: &span)
    append(.end, row, &others, to: &span)
    guard span.isEmpty else {
      // A feature has one time.
      if let column = fields[.timestamp], row.kind(at: column) != .null { others.append(column) }
      bytes += "<TimeSpan>".utf8
      bytes += span
      bytes += "</TimeSpan>".utf8
      return
    }
    append(.timestamp, row, &others, to: &span)
    guard !span.isEmpty else { return }
    bytes += "<TimeStamp>".utf8
    bytes += span
    bytes += "</TimeStamp>".utf8
  }

  private func appendStyle(
    _ row: borrowing some FeatureRow & ~Copyable, _ others: inout [Int], to bytes: inout [UInt8]
  ) {
    if schema.style != nil { bytes += "<styleUrl>#style-\(id)</styleUrl>".utf8 }
    var style = KMLStyleText()
    for field in KMLField.allCases where field.isStyle {
      guard let column = fields[field], row.kind(at: column) != .null else { continue }
      if !style.set(field, text(row, column)) { others.append(column) }
    }
    guard !style.isEmpty else { return }
    bytes += "<Style>".utf8
    style.append(to: &bytes)
    bytes += "</Style>".utf8
  }

  private func appendData(
    _ row: borrowing some FeatureRow & ~Copyable, _ others: [Int], to bytes: inout [UInt8]
  ) {
    let start = bytes.count
    bytes += "<ExtendedData><SchemaData schemaUrl=\"#\(id)\">".utf8
    let first = bytes.count
    for (column, name) in data { append(row, column, name, to: &bytes) }
    for column in others { append(row, column, Self.name(of: schema.columns[column]), to: &bytes) }
    guard bytes.count > first else {
      bytes.removeSubrange(start...)
      return
    }
    bytes += "</SchemaData></ExtendedData>".utf8
  }

  private func append(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int, _ name: [UInt8],
    to bytes: inout [UInt8]
  ) {
    guard row.kind(at: column) != .null else { return }
    bytes += "<SimpleData name=\"".utf8
    bytes += name
    bytes += "\">".utf8
    XMLText.append(text(row, column), to: &bytes)
    bytes += "</SimpleData>".utf8
  }

  private func text(_ row: borrowing some FeatureRow & ~Copyable, _ column: Int) -> String {
    switch row.kind(at: column) {
    case .null: return ""
    case .integer: return "\(row.integer(at: column))"
    case .real:
      var text: [UInt8] = []
      let value = row.real(at: column)
      // The words of XML Schema.
      if !value.isFinite { return value.isNaN ? "NaN" : value < 0 ? "-INF" : "INF" }
      NumberText.append(value, to: &text)
      return String(decoding: text, as: UTF8.self)
    case .text: return row.text(at: column)
    case .blob:
      return row.withBytes(at: column) { span in span.withUnsafeBytes { Base64.encode($0) } }
    }
  }
}

extension KMLField {
  /// Whether a placemark has a place for it.
  fileprivate var isWritten: Bool { ![.id, .drawOrder, .icon].contains(self) }

  fileprivate var elementName: String {
    switch self {
    case .name: "name"
    case .snippet: "Snippet"
    case .timestamp: "when"
    default: columnName
    }
  }

  /// Whether KML's schema allows the value.
  fileprivate func allows(_ text: String) -> Bool {
    switch self {
    case .visibility, .tessellate, .extrude: return text == "0" || text == "1"
    case .altitudeMode:
      return [
        "clampToGround", "relativeToGround", "absolute", "clampToSeaFloor", "relativeToSeaFloor",
      ].contains(text)
    case .timestamp, .begin, .end:
      let bytes = Array(text.utf8)
      return bytes.withUnsafeBufferPointer { bytes in
        switch bytes.count {
        case 4, 7:
          bytes.enumerated().allSatisfy { index, byte in
            index == 4 ? byte == UInt8(ascii: "-") : byte &- UInt8(ascii: "0") <= 9
          }
        case 10: DateTimeParser.date(bytes) != nil
        default: bytes.contains(UInt8(ascii: "T")) && DateTimeParser.dateTime(bytes) != nil
        }
      }
    default: return true
    }
  }
}

/// Colours as the parts of a style.
struct KMLStyleText {
  private var line: StyleColor?
  private var lineOpacity: Double?
  private var lineWidth: Double?
  private var area: StyleColor?
  private var areaOpacity: Double?
  private var icon: StyleColor?

  init() {}

  init(_ style: LayerStyle) {
    line = style.strokeColor
    lineOpacity = style.strokeOpacity
    lineWidth = style.strokeWidth
    area = style.fillColor
    areaOpacity = style.fillOpacity
    icon = style.iconColor
  }

  var isEmpty: Bool {
    line == nil && lineOpacity == nil && lineWidth == nil && area == nil && areaOpacity == nil
      && icon == nil
  }

  /// Sets a property of simplestyle; false where the text is none of its values.
  mutating func set(_ field: KMLField, _ text: String) -> Bool {
    let number = Double(text).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    let share = number.flatMap { $0 <= 1 ? $0 : nil }
    switch field {
    case .stroke: line = StyleColor(text)
    case .fill: area = StyleColor(text)
    case .markerColor: icon = StyleColor(text)
    case .strokeOpacity: lineOpacity = share
    case .fillOpacity: areaOpacity = share
    case .strokeWidth: lineWidth = number
    default: return false
    }
    switch field {
    case .stroke: return line != nil
    case .fill: return area != nil
    case .markerColor: return icon != nil
    case .strokeOpacity, .fillOpacity: return share != nil
    default: return number != nil
    }
  }

  func append(to bytes: inout [UInt8]) {
    if let icon {
      bytes += "<IconStyle><color>\(Self.text(icon, nil))</color></IconStyle>".utf8
    }
    if line != nil || lineOpacity != nil || lineWidth != nil {
      bytes += "<LineStyle>".utf8
      if line != nil || lineOpacity != nil {
        // KML's default is opaque white.
        bytes += "<color>\(Self.text(line ?? Self.white, lineOpacity))</color>".utf8
      }
      if let lineWidth { bytes += "<width>\(lineWidth)</width>".utf8 }
      bytes += "</LineStyle>".utf8
    }
    guard area != nil || areaOpacity != nil else { return }
    bytes += "<PolyStyle>".utf8
    if area != nil || areaOpacity ?? 0 > 0 {
      bytes += "<color>\(Self.text(area ?? Self.white, areaOpacity))</color>".utf8
    }
    if areaOpacity == 0 { bytes += "<fill>0</fill>".utf8 }
    bytes += "</PolyStyle>".utf8
  }

  private static let white = StyleColor(red: 255, green: 255, blue: 255)

  /// Opacity, blue, green, red.
  private static func text(_ color: StyleColor, _ opacity: Double?) -> String {
    let opacity = UInt8(((opacity ?? color.opacity) * 255).rounded())
    return [opacity, color.blue, color.green, color.red].map { channel in
      let digits = String(channel, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
