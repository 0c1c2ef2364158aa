import Fieldpack
import FieldpackCore
import Testing

@Suite struct StoreRegistryTests {
  enum Failing: StoreType {
    static let identifier = "failing.1.2"
    static func open(
      _ config: StoreConfig, in context: StoreContext
    ) async throws(FieldpackError) -> any Store {
      throw FieldpackError(.unavailable, "never")
    }
  }

  enum Other: StoreType {
    static let identifier = "other.1"
    static func open(
      _ config: StoreConfig, in context: StoreContext
    ) async throws(FieldpackError) -> any Store {
      throw FieldpackError(.io, "other", location: .init(store: "kept", layer: "l"))
    }
  }

  private let position = FilePosition(file: "a.scfg", line: 3, column: 5)

  private func message(_ type: String, _ version: String = "1") async -> String {
    var registry = StoreRegistry([Other.self])
    registry.register(Failing.self)
    let config = StoreConfig(id: "s", type: type, version: version, uri: "u", position: position)
    do throws(FieldpackError) {
      _ = try await registry.open(config)
      return "open"
    } catch {
      #expect(error.position == position)
      return "\(error.code) \(error.location.store?.rawValue ?? "?"): \(error.message)"
    }
  }

  @Test func `a registered type opens the store, and its errors name it`() async {
    #expect(StoreRegistry([Other.self, Failing.self]).identifiers == ["failing.1.2", "other.1"])
    #expect(await message("failing", "1.2") == "unavailable s: never")
    #expect(await message("other") == "io kept: other")
  }

  @Test func `an unknown type is an error that lists the known ones`() async {
    #expect(
      await message("wfs", "1.1.0")
        == "configuration s: store type 'wfs.1.1.0' is not known (known: failing.1.2, other.1)")
    #expect(
      await message("othr")
        == "configuration s: store type 'othr.1' is not known, did you mean 'other.1'? "
        + "(known: failing.1.2, other.1)")
    #expect(
      await message("")
        == "configuration s: the store has no 'store_type' (known: failing.1.2, other.1)")
  }
}
