package import FieldpackCore

/// Who edits: what change logs say of each edit.
public struct Editor: Hashable, Sendable {
  public var author: String?
  /// The UUID of the device.
  public var device: String?
  /// Tells the device where ``device`` is `nil`. It is asked when a file with change logs is written to.
  package var keptDevice: KeptDevice?

  public init(author: String? = nil, device: String? = nil) {
    (self.author, self.device) = (author, device)
  }
}

/// The UUID of this device, which is looked up when it is first needed.
package final class KeptDevice: Sendable, Hashable {
  private let read: @Sendable () throws(FieldpackError) -> String
  private let known = Locked<String?>(nil)

  package init(_ read: @escaping @Sendable () throws(FieldpackError) -> String) {
    self.read = read
  }

  /// The UUID; `nil` where it cannot be kept. An edit is not refused for that.
  package func find(_ logger: Logger) -> String? {
    known.withLock { known in
      if let known { return known }
      do throws(FieldpackError) {
        known = try read()
      } catch {
        logger.warning("edits do not name the device", ["reason": .text(error.message)])
      }
      return known
    }
  }

  package static func == (a: KeptDevice, b: KeptDevice) -> Bool { a === b }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
