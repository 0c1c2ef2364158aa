import Fieldpack
import FieldpackCheck
import FieldpackServices
import FieldpackTestSupport
import Foundation

/// A form store in a folder of its own.
final class FormFolder {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  var path: String { folder.file("stores/FORM_STORE.gpkg").path }

  /// Opens the store for `body` and closes it again.
  @discardableResult
  func withStore<R>(_ body: (FormStore) async throws -> R) async throws -> R {
    let store = try await FormStore.open(folder: folder.file("stores").path)
    let result = try await body(store)
    await store.close()
    return result
  }

  func findings() throws -> [String] {
    try GeoPackageChecker(path: path, store: FormStore.id).run().findings.map { "\($0)" }
  }
}

extension FormField {
  init(
    key: String, label: String, kind: Kind?, isRequired: Bool = false,
    _ change: (inout FormConstraints) -> Void
  ) {
    var constraints = FormConstraints()
    change(&constraints)
    self.init(key: key, label: label, kind: kind, isRequired: isRequired, constraints: constraints)
  }
}
