import FieldpackCore
import FieldpackGeometry

/// Writes what stands inside of a `wpt`, `rtept` or `trkpt`, or before the points of a `rte` or
/// `trk`.
struct GPXElementWriter {
  let plan: GPXWritePlan

  /// What goes to `extensions`.
  private var extensions: [UInt8] = []

  init(_ plan: GPXWritePlan) { self.plan = plan }

  /// - Parameters:
  ///   - z: the elevation where no column gives one.
  ///   - m: Unix seconds where no column gives a time.
  mutating func append(
    _ row: borrowing some FeatureRow & ~Copyable, z: Double = .nan, m: Double = .nan,
    to bytes: inout [UInt8]
  ) {
    extensions.removeAll(keepingCapacity: true)
    if !appendStep(row, plan.ele, &bytes) { Self.appendElevation(z, to: &bytes) }
    if !appendStep(row, plan.time, &bytes) { Self.appendTime(m, to: &bytes) }
    for step in plan.beforeLinks { _ = appendStep(row, step, &bytes) }
    for link in plan.links { append(row, link, &bytes) }
    for step in plan.afterLinks { _ = appendStep(row, step, &bytes) }
    appendExtensions(row, &bytes)
  }

  static func appendElevation(_ z: Double, to bytes: inout [UInt8]) {
    guard z.isFinite else { return }
    append("ele", to: &bytes) { GPXValueText.append(decimal: z, to: &$0) }
  }

  static func appendTime(_ m: Double, to bytes: inout [UInt8]) {
    guard m.isFinite else { return }
    append("time", to: &bytes) { GPXValueText.append(unixSeconds: m, to: &$0) }
  }

  /// Appends an element, or nothing where `content` has none.
  @discardableResult
  private static func append(
    _ name: String, to bytes: inout [UInt8], _ content: (inout [UInt8]) -> Bool
  ) -> Bool {
    let start = bytes.count
    bytes.append(UInt8(ascii: "<"))
    bytes.append(contentsOf: name.utf8)
    bytes.append(UInt8(ascii: ">"))
    guard content(&bytes) else {
      bytes.removeLast(bytes.count - start)
      return false
    }
    bytes.append(contentsOf: "</".utf8)
    bytes.append(contentsOf: name.utf8)
    bytes.append(UInt8(ascii: ">"))
    return true
  }

  /// Appends an element that the schema knows; a value it does not allow goes to the extensions.
  private mutating func appendStep(
    _ row: borrowing some FeatureRow & ~Copyable, _ step: GPXWritePlan.Step?,
    _ bytes: inout [UInt8]
  ) -> Bool {
    guard let step, row.kind(at: step.column) != .null else { return false }
    let name = step.element.rawValue
    let start = bytes.count
    bytes.append(contentsOf: "<\(name)>".utf8)
    if GPXValueText.append(row, step.column, as: step.element, to: &bytes) {
      bytes.append(contentsOf: "</\(name)>".utf8)
      return true
    }
    bytes.removeLast(bytes.count - start)
    appendExtension(named: name, GPXValueText.plainText(row, step.column, .text()))
    return false
  }

  private mutating func append(
    _ row: borrowing some FeatureRow & ~Copyable, _ link: GPXWritePlan.Link,
    _ bytes: inout [UInt8]
  ) {
    let parts = [("text", link.text), ("type", link.type)]
    guard GPXValueText.isURI(row, link.href) else {
      for column in [link.href] + parts.compactMap(\.1) {
        appendExtension(
          named: plan.name(of: column), GPXValueText.plainText(row, column, .text()))
      }
      return
    }
    bytes.append(contentsOf: "<link href=\"".utf8)
    _ = GPXValueText.appendText(row, link.href, .text(), inAttribute: true, to: &bytes)
    bytes.append(contentsOf: "\">".utf8)
    for (name, column) in parts {
      guard let column, row.kind(at: column) != .null else { continue }
      bytes.append(contentsOf: "<\(name)>".utf8)
      _ = GPXValueText.appendText(row, column, .text(), to: &bytes)
      bytes.append(contentsOf: "</\(name)>".utf8)
    }
    bytes.append(contentsOf: "</link>".utf8)
  }

  // MARK: Extensions

  /// An attribute that no element is made of yet.
  private struct Pending {
    var attribute: GPXWritePlan.Attribute
    var value: [UInt8]?
    var isUsed = false
  }

  private mutating func appendExtensions(
    _ row: borrowing some FeatureRow & ~Copyable, _ bytes: inout [UInt8]
  ) {
    var values: [Pending] = []
    for attribute in plan.attributes {
      let value = GPXValueText.plainText(row, attribute.column, attribute.type)
      values.append(Pending(attribute: attribute, value: value))
    }
    if let column = plan.extensions, row.kind(at: column) == .text {
      let children = GPXValueText.withText(row, column) { xml in
        GPXFragmentRewriter.rewrite(xml) { Self.leaf($0, $1, &values) }
      }
      if let children {
        extensions.append(contentsOf: children)
      } else {
        appendExtension(named: "extensions", GPXValueText.plainText(row, column, .text()))
      }
    }
    for pending in values where !pending.isUsed {
      appendExtension(
        named: pending.attribute.name, as: pending.attribute.xmlName, pending.value)
    }
    guard !extensions.isEmpty else { return }
    bytes.append(contentsOf: "<extensions>".utf8)
    bytes.append(contentsOf: extensions)
    bytes.append(contentsOf: "</extensions>".utf8)
  }

  /// What becomes of a leaf of the verbatim extensions, given the columns made of such leaves.
  ///
  /// An equal column is the leaf; a column of the leaf's name with another value was edited, and
  /// takes the leaf's place, as NULL takes it out.
  private static func leaf(
    _ name: String, _ text: [UInt8], _ values: inout [Pending]
  ) -> GPXFragmentRewriter.Leaf {
    let equal = values.firstIndex { pending in
      guard !pending.isUsed, let value = pending.value else { return false }
      return isColumn(pending.attribute.name, of: name) && isEqual(value, text)
    }
    if let equal {
      values[equal].isUsed = true
      return .keep
    }
    guard let edited = values.firstIndex(where: { !$0.isUsed && $0.attribute.name == name }) else {
      return .keep
    }
    values[edited].isUsed = true
    guard let value = values[edited].value else { return .drop }
    var escaped: [UInt8] = []
    value.withUnsafeBufferPointer { XMLText.append($0, to: &escaped) }
    return .replace(escaped)
  }

  private static func isColumn(_ column: String, of leaf: String) -> Bool {
    guard column.hasPrefix(leaf) else { return false }
    let rest = column.utf8.dropFirst(leaf.utf8.count)
    return rest.isEmpty
      || rest.first == UInt8(ascii: "_") && Int(Substring(rest.dropFirst())) != nil
  }

  private static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    if a == b { return true }
    return a.withUnsafeBufferPointer { a in
      b.withUnsafeBufferPointer { b in
        if let a = NumberParser.double(a), let b = NumberParser.double(b) { return a == b }
        guard let a = DateTimeParser.dateTime(a), let b = DateTimeParser.dateTime(b) else {
          return false
        }
        return a.instant == b.instant
      }
    }
  }

  /// Appends an element of Fieldpack's namespace, which keeps the name that XML cannot have.
  private mutating func appendExtension(
    named name: String, as given: String? = nil, _ value: [UInt8]?
  ) {
    guard let value else { return }
    let xmlName = given ?? XMLText.name(name)
    extensions.append(contentsOf: "<fieldpack:\(xmlName)".utf8)
    if xmlName != name {
      extensions.append(contentsOf: " name=\"".utf8)
      XMLText.append(name, inAttribute: true, to: &extensions)
      extensions.append(UInt8(ascii: "\""))
    }
    extensions.append(UInt8(ascii: ">"))
    value.withUnsafeBufferPointer { XMLText.append($0, to: &extensions) }
    extensions.append(contentsOf: "</fieldpack:\(xmlName)>".utf8)
  }
}
