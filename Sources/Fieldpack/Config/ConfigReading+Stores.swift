import FieldpackCore

extension ConfigReading {
  private static let known: Set = [
    "store_type", "type", "version", "uri", "id", "name", "default_layers", "style", "team_id",
    "options",
  ]
  /// What old apps wrote and none reads any more.
  private static let obsolete: Set = ["isMainBundle", "isInApp", "default"]

  mutating func readStore(_ entry: ConfigValue) {
    let start = entry.range.lowerBound
    let unknown = sortOut(entry.members)
    let type = storeType(of: entry)
    let uri = nonEmptyText("uri", of: entry) ?? ""
    let version = nonEmptyText("version", of: entry) ?? "1"
    let id = nonEmptyText("id", of: entry) ?? Self.identifier(type: type, uri: uri)
    if uri.isEmpty { tell(.error, at: start, "store '\(id)' has no 'uri'") }
    if type.isEmpty { tell(.error, at: start, "store '\(id)' has no 'store_type'") }
    if nonEmpty(entry["id"]) == nil {
      tell(.note, at: start, "the store has no 'id': its type and uri make it '\(id)'")
    }
    var store = StoreConfig(
      id: StoreID(id), name: nonEmptyText("name", of: entry), type: type, version: version,
      uri: uri, defaultLayers: defaultLayers(of: entry), style: nonNull(entry["style"]),
      options: options(of: entry), unknown: unknown, folder: folder, allowing: allowing,
      position: document.position(of: start))
    store.layerStyle = layerStyle(of: entry)
    store.storeFolder = document.storeFolder(in: folder)
    add(store)
  }

  /// Tells of members that mean nothing, and returns those nobody knows.
  private mutating func sortOut(_ members: [ConfigMember]) -> [ConfigMember] {
    var unknown: [ConfigMember] = []
    for member in members where !Self.known.contains(member.name) {
      if Self.obsolete.contains(member.name) {
        tell(.note, at: member.offset, "'\(member.name)' has no effect")
      } else {
        tellUnknown(member)
        unknown.append(member)
      }
    }
    return unknown
  }

  /// `store_type`, in older files `type`; `geopackage` is the old name of `gpkg`.
  private mutating func storeType(of entry: ConfigValue) -> String {
    let new = nonEmptyText("store_type", of: entry)
    let old = nonEmptyText("type", of: entry)
    if let new, let old, new != old, let member = entry["type"] {
      tell(
        .warning, at: member.range.lowerBound,
        "'type' is '\(old)', but 'store_type' '\(new)' counts")
    }
    let type = new ?? old ?? ""
    return type == "geopackage" ? "gpkg" : type
  }

  private mutating func defaultLayers(of entry: ConfigValue) -> [LayerID] {
    var layers: [LayerID] = []
    for element in list("default_layers", of: entry) {
      if let name = element.text {
        layers.append(LayerID(name))
      } else {
        tell(
          .warning, at: element.range.lowerBound,
          "a default layer is a text, not \(element.kind): left out")
      }
    }
    return layers
  }

  private mutating func options(of entry: ConfigValue) -> ConfigValue? {
    guard let options = nonNull(entry["options"]) else { return nil }
    if case .object = options.content { return options }
    tell(.warning, at: options.range.lowerBound, "'options' is an object, not \(options.kind)")
    return nil
  }

  private mutating func nonEmptyText(_ name: String, of entry: ConfigValue) -> String? {
    text(name, of: entry).flatMap { $0.isEmpty ? nil : $0 }
  }

  private func nonNull(_ value: ConfigValue?) -> ConfigValue? {
    value.flatMap { $0.isNull ? nil : $0 }
  }

  /// A text or number that can serve as id.
  private func nonEmpty(_ value: ConfigValue?) -> ConfigValue? {
    switch value?.content {
    case .text(let text)? where !text.isEmpty: value
    case .number?: value
    default: nil
    }
  }

  /// The same for the same type and uri, on every machine: a hash.
  private static func identifier(type: String, uri: String) -> String {
    let hash = FNV1a.hash(of: Array(type.utf8) + [0] + Array(uri.utf8))
    return String(hex: withUnsafeBytes(of: hash.bigEndian, Array.init))
  }
}
