import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// Writes the changes of a transaction of version 1.1.0 or 2.0.0, and reads the answer to them.
struct TransactionDocument {
  private let service: WFSService
  private let version: WFSVersion

  init(_ service: WFSService, _ version: WFSVersion) {
    self.service = service
    self.version = version
  }

  private var isNew: Bool { version == .wfs20 }

  func bytes(of changes: [WFSChange]) -> [UInt8] {
    var xml = XMLWriter(
      namespaces: [("wfs", version.namespace), ("fes", version.fes), ("gml", version.gml)],
      declaration: true)
    xml.start(qualified("Transaction"))
    xml.attribute("service", "WFS")
    xml.attribute("version", version.rawValue)
    for (index, change) in changes.enumerated() {
      switch change.kind {
      case .insert(let id): insert(change, id, index, to: &xml)
      case .update(let id): update(change, id, index, to: &xml)
      case .delete(let id):
        xml.start(qualified("Delete"))
        xml.attribute("typeName", naming: change.type.element)
        filter(id, to: &xml)
        xml.end()
      }
    }
    xml.end()
    return xml.takeBytes()
  }

  private func qualified(_ local: String) -> XMLQName { XMLQName(local, in: version.namespace) }

  /// An insert has one feature, because some services take no more, and its id as a handle, because
  /// some name the new features in another order.
  private func insert(
    _ change: WFSChange, _ id: FeatureID, _ index: Int, to xml: inout XMLWriter
  ) {
    let namespace = change.type.element.namespace ?? change.description.namespace
    xml.start(qualified("Insert"))
    xml.attribute("handle", id.description)
    xml.start(XMLQName(change.type.localName, in: namespace))
    // Services want the elements in the order of their schema.
    let schema = change.description.schema
    let before = change.description.geometryIndex
    attributes(schema.columns.prefix(before), of: change, namespace, to: &xml)
    if let column = schema.geometry, case .set(let geometry?) = change.geometry {
      xml.start(XMLQName(column.name, in: namespace))
      geometries(change)?.write(geometry, to: &xml, id: "g\(index + 1)")
      xml.end()
    }
    attributes(schema.columns.dropFirst(before), of: change, namespace, to: &xml)
    xml.end()
    xml.end()
  }

  private func attributes(
    _ columns: ArraySlice<ColumnDefinition>, of change: WFSChange, _ namespace: String?,
    to xml: inout XMLWriter
  ) {
    for column in columns {
      guard let value = change.attributes[column.name], !value.isNull else { continue }
      xml.element(XMLQName(column.name, in: namespace), Self.text(of: value))
    }
  }

  private func update(_ change: WFSChange, _ id: String, _ index: Int, to xml: inout XMLWriter) {
    xml.start(qualified("Update"))
    xml.attribute("typeName", naming: change.type.element)
    for element in change.attributes.elements {
      property(element.name, to: &xml) { xml in
        // A property without a value becomes NULL.
        guard !element.value.isNull else { return }
        xml.element(qualified("Value"), Self.text(of: element.value))
      }
    }
    if let column = change.description.schema.geometry, case .set(let geometry) = change.geometry {
      property(column.name, to: &xml) { xml in
        guard let geometry else { return }
        xml.start(qualified("Value"))
        geometries(change)?.write(geometry, to: &xml, id: "g\(index + 1)")
        xml.end()
      }
    }
    filter(id, to: &xml)
    xml.end()
  }

  private func property(
    _ name: String, to xml: inout XMLWriter, _ value: (inout XMLWriter) -> Void
  ) {
    xml.start(qualified("Property"))
    xml.element(qualified(isNew ? "ValueReference" : "Name"), name)
    value(&xml)
    xml.end()
  }

  private func filter(_ id: String, to xml: inout XMLWriter) {
    xml.start(XMLQName("Filter", in: version.fes))
    xml.start(XMLQName(isNew ? "ResourceId" : "FeatureId", in: version.fes))
    xml.attribute(isNew ? "rid" : "fid", id)
    xml.end()
    xml.end()
  }

  private func geometries(_ change: WFSChange) -> GMLGeometryWriter? {
    guard let name = change.type.srs else { return nil }
    return GMLGeometryWriter(
      version: version, name: name,
      isNorthFirst: service.axes.isNorthFirst(name, asked: nil))
  }

  private static func text(of value: Value) -> String {
    if case .blob(let bytes) = value { return Base64.encode(bytes) }
    return value.plainText
  }

  // MARK: The answer

  /// The ids of the new features, by those that they had before.
  ///
  /// - Throws: `.invalidData` where the service has not done what it was asked for.
  func ids(
    in root: XMLTree, of changes: [WFSChange]
  ) throws(FieldpackError) -> [FeatureID: FeatureID] {
    guard root.name.local == "TransactionResponse" else {
      throw FieldpackError(
        .invalidData, .otherDocument,
        "the answer to a transaction is '\(ExceptionReport.shown(root.name.local))'")
    }
    let inserts = changes.filter { if case .insert = $0.kind { true } else { false } }
    try check(root, changes, inserts.count)
    // GeoServer names a feature "none" where nothing was inserted.
    if inserts.isEmpty { return [:] }
    let given = Self.newFeatures(in: root)
    guard given.count == inserts.count else {
      throw FieldpackError(
        .invalidData, .incomplete(matched: inserts.count, given: given.count),
        "the service names \(given.count) of \(inserts.count) new features")
    }
    var named: [String: String] = [:]
    for feature in given { if let handle = feature.handle { named[handle] = feature.id } }
    let handles = inserts.compactMap { change in
      if case .insert(let id) = change.kind { id.description } else { nil }
    }
    if Set(handles) != Set(named.keys) { named = [:] }
    var ids: [FeatureID: FeatureID] = [:]
    for (change, feature) in zip(inserts, given) {
      guard case .insert(let id) = change.kind else { continue }
      ids[id] = FeatureShape.id(named[id.description] ?? feature.id, in: change.type)
    }
    return ids
  }

  /// The ids that the service gave, with the handles of the inserts where it repeats them.
  private static func newFeatures(in root: XMLTree) -> [(handle: String?, id: String)] {
    (root.child("InsertResults")?.children("Feature") ?? []).compactMap { feature in
      let id = feature.child("ResourceId")?["rid"] ?? feature.child("FeatureId")?["fid"]
      return id.map { (feature["handle"], $0) }
    }
  }

  private func check(
    _ root: XMLTree, _ changes: [WFSChange], _ inserted: Int
  ) throws(FieldpackError) {
    let summary = root.child("TransactionSummary")
    let reason = (root.child("TransactionResults")?.children("Action") ?? [])
      .compactMap { $0.child("Message").map { ExceptionReport.shown($0.text) } }
      .first { !$0.isEmpty }
    let updated = changes.count { if case .update = $0.kind { true } else { false } }
    let deleted = changes.count { if case .delete = $0.kind { true } else { false } }
    for (name, count) in [
      ("totalInserted", inserted), ("totalUpdated", updated), ("totalDeleted", deleted),
    ] {
      // A total may be left out, and some services count a feature twice that is changed twice.
      guard let text = summary?.child(name)?.text.trimmedOfSpace, let total = Int(text),
        total < count
      else { continue }
      throw FieldpackError(
        .invalidData, .incomplete(matched: count, given: total),
        "the service has done \(total) of \(count) changes (\(name))\(reason.map { ": " + $0 } ?? "")"
      )
    }
    if let reason {
      throw FieldpackError(
        .invalidData, .exception(code: "", locator: nil, text: reason),
        "the service has not done all changes: \(reason)")
    }
  }
}
