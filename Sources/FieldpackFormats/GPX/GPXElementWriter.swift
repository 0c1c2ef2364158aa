import FieldpackCore
import FieldpackGeometry

/// Writes what stands inside of a `wpt`, `rtept` or `trkpt`, or before the points of a `rte` or
/// `trk`.
struct GPXElementWriter {
  let plan: GPXWritePlan

  private var values = GPXValueText()
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
    if !appendStep(row, plan.ele, &bytes), z.isFinite {
      bytes.appendRun(upTo: 16 + NumberText.room) { Self.appendElevation(z, to: &$0) }
    }
    if !appendStep(row, plan.time, &bytes), m.isFinite {
      bytes.appendRun(upTo: 16 + InstantText.room) { Self.appendTime(m, to: &$0) }
    }
    for step in plan.beforeLinks { _ = appendStep(row, step, &bytes) }
    for link in plan.links { append(row, link, &bytes) }
    for step in plan.afterLinks { _ = appendStep(row, step, &bytes) }
    appendExtensions(row, &bytes)
  }

  static func appendElevation(_ z: Double, to text: inout TextRun) {
    guard abs(z) < GPXValueText.decimalLimit else { return }
    text.append("<ele>")
    GPXValueText.append(decimal: z, to: &text)
    text.append("</ele>")
  }

  static func appendTime(_ m: Double, to text: inout TextRun) {
    guard let instant = GPXValueText.instant(unixSeconds: m) else { return }
    text.append("<time>")
    InstantText.append(instant, isShort: true, to: &text)
    text.append("</time>")
  }

  /// Appends an element that the schema knows; a value it does not allow goes to the extensions.
  private mutating func appendStep(
    _ row: borrowing some FeatureRow & ~Copyable, _ step: GPXWritePlan.Step?,
    _ bytes: inout [UInt8]
  ) -> Bool {
    guard let step, row.kind(at: step.column) != .null else { return false }
    let start = bytes.count
    bytes.append(contentsOf: plan.tags[step.tag.open])
    if values.append(row, step.column, as: step.element, to: &bytes) {
      bytes.append(contentsOf: plan.tags[step.tag.close])
      return true
    }
    bytes.removeLast(bytes.count - start)
    appendExtension(
      named: step.element.rawValue, GPXValueText.plainText(row, step.column, .text()))
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
    GPXValueText.appendText(row, link.href, .text(), inAttribute: true, to: &bytes)
    bytes.append(contentsOf: "\">".utf8)
    for (name, column) in parts {
      guard let column, row.kind(at: column) != .null else { continue }
      bytes.append(contentsOf: "<\(name)>".utf8)
      GPXValueText.appendText(row, column, .text(), to: &bytes)
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
    if let column = plan.extensions, row.kind(at: column) == .text {
      appendVerbatim(row, column)
    } else {
      for attribute in plan.attributes { append(row, attribute) }
    }
    guard !extensions.isEmpty else { return }
    bytes.append(contentsOf: "<extensions>".utf8)
    bytes.append(contentsOf: extensions)
    bytes.append(contentsOf: "</extensions>".utf8)
  }

  /// Appends an attribute that no element is made of, unless it is NULL.
  private mutating func append(
    _ row: borrowing some FeatureRow & ~Copyable, _ attribute: GPXWritePlan.Attribute
  ) {
    guard row.kind(at: attribute.column) != .null else { return }
    extensions.append(contentsOf: plan.tags[attribute.tag.open])
    GPXValueText.appendText(row, attribute.column, attribute.type, to: &extensions)
    extensions.append(contentsOf: plan.tags[attribute.tag.close])
  }

  /// Appends the XML of the column `extensions`, edited columns in the place of its leaves.
  private mutating func appendVerbatim(
    _ row: borrowing some FeatureRow & ~Copyable, _ column: Int
  ) {
    var values: [Pending] = []
    for attribute in plan.attributes {
      let value = GPXValueText.plainText(row, attribute.column, attribute.type)
      values.append(Pending(attribute: attribute, value: value))
    }
    let children = GPXValueText.withText(row, column) { xml in
      GPXFragmentRewriter.rewrite(xml) { Self.leaf($0, $1, &values) }
    }
    if let children {
      extensions.append(contentsOf: children)
    } else {
      appendExtension(named: "extensions", GPXValueText.plainText(row, column, .text()))
    }
    for pending in values where !pending.isUsed {
      appendExtension(named: pending.attribute.name, pending.value)
    }
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

  /// Appends an element of Fieldpack's namespace, unless there is no value.
  private mutating func appendExtension(named name: String, _ value: [UInt8]?) {
    guard let value else { return }
    let tags = GPXWritePlan.extensionTags(named: name)
    extensions.append(contentsOf: tags.open.utf8)
    value.withUnsafeBufferPointer { XMLText.append($0, to: &extensions) }
    extensions.append(contentsOf: tags.close.utf8)
  }
}
