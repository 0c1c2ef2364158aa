public import FieldpackCore

/// The certificate with which a server proves its name, and its key.
public struct ServerCertificate: Sendable {
  let chain: [UInt8]
  let key: [UInt8]
  let names: String

  /// Reads both from files in PEM. They are read once.
  ///
  /// - Parameters:
  ///   - certificate: the server's own first, then those that vouch for it.
  ///   - key: not encrypted. Only its owner may read the file.
  /// - Throws: `.notFound`, `.permission` for a key that others may read, `.invalidData`.
  public init(certificate: String, key: String) throws(FieldpackError) {
    chain = try ByteInput(path: certificate).head(Self.maximumSize)
    self.key = try PrivateFile.read(key, "key", upTo: Self.maximumSize)
    names = "the certificate \(certificate) and the key \(key)"
    guard Self.has("-----BEGIN CERTIFICATE-----", chain) else {
      throw FieldpackError(
        .invalidData, "\(certificate) has no certificate in PEM",
        position: FilePosition(file: certificate))
    }
    guard Self.has("PRIVATE KEY-----", self.key), !Self.has("ENCRYPTED", self.key) else {
      throw FieldpackError(
        .invalidData, "\(key) has no key in PEM that can be read without a password",
        position: FilePosition(file: key))
    }
  }

  private static let maximumSize = 1 << 20

  private static func has(_ text: String, _ bytes: [UInt8]) -> Bool {
    String(decoding: bytes, as: UTF8.self).contains(text)
  }

  /// What libmicrohttpd cannot use.
  var mismatch: FieldpackError {
    FieldpackError(.invalidData, "\(names) do not belong together, or cannot be read")
  }
}
