package import Fieldpack
package import FieldpackCore

extension DataService {
  /// A store as bridges know it.
  ///
  /// - Throws: `.notFound` where there is no such store.
  package func dictionary(of id: StoreID) async throws(FieldpackError) -> JSONValue {
    let member = try workspace.member(id)
    let store = member.store
    let vectors = (try? await store?.schemas())?.map { JSONValue.text($0.layer.rawValue) }
    let rasters = (try? await (store as? any RasterStore)?.tilePyramids())?.map {
      JSONValue.text($0.name.rawValue)
    }
    let members: KeyValuePairs<String, JSONValue> = [
      "storeId": .text(id.rawValue), "name": .text(member.config.name),
      "service": .text(ServiceID.data.rawValue), "type": .text(member.config.type),
      "status": .integer(Int64(member.state.status.rawValue)),
      "downloadProgress": .real(Self.progress(member.state)),
      "style": member.config.style.map { JSONValue($0) } ?? .null,
      "vectorLayers": .array(vectors ?? []), "rasterLayers": .array(rasters ?? []),
    ]
    return .object(members.map { JSONValue.Member(name: $0.key, value: $0.value) })
  }

  private static func progress(_ state: StoreState) -> Double {
    switch state {
    case .open, .paused, .opening: 1
    case .downloading(let progress): progress.fraction ?? 0
    case .stopped, .notAsked, .downloadFailed, .failed: 0
    }
  }
}

extension JSONValue {
  /// A value of a config.
  package init(_ value: ConfigValue) {
    self =
      switch value.content {
      case .null: .null
      case .boolean(let flag): .boolean(flag)
      case .number(let digits): Int64(digits).map { .integer($0) } ?? .real(Double(digits) ?? .nan)
      case .text(let text): .text(text)
      case .array(let elements): .array(elements.map { JSONValue($0) })
      case .object(let members):
        .object(members.map { Member(name: $0.name, value: JSONValue($0.value)) })
      }
  }
}
