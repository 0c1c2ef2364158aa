public import Foundation

/// The checkout that the tests were built from.
public enum Checkout {
  public static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A file or folder by its path in the checkout.
  public static func file(_ path: String) -> URL { root.appendingPathComponent(path) }
}
