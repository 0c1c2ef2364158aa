public import Fieldpack
public import FieldpackCore

/// The forms of configs are registered as they come, and unregistered as they go.
extension FormStore: FormReceiver {
  /// Registers a form, see ``register(_:)``.
  public func take(_ form: FormConfig) async throws(FieldpackError) { try await register(form) }

  /// Takes no more submissions to a form; its layer stays with all that was submitted.
  public func drop(_ key: String) async { unregister(key) }
}
