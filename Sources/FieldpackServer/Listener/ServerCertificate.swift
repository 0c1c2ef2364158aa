public import FieldpackCore

/// The certificate with which a server proves its name, and its key.
public struct ServerCertificate: Sendable {
  let chain: [UInt8]
  let key: [UInt8]
  let names: String

  /// Reads both from files in PEM. The files are read once.
  ///
  /// - Parameters:
  ///   - certificate: the server's own certificate first, then those of its issuers.
  ///   - key: not encrypted. Only its owner may read the file.
  /// - Throws: `.notFound`, `.permission` for a key that others may read, `.invalidData`.
  public init(certificate: String, key: String) throws(FieldpackError) {
    chain = try ByteInput(path: certificate).head(Self.maximumSize)
    let bytes = try PrivateFile.read(
      key, of: .administrator, upTo: Self.maximumSize,
      orElse: "the key in it is not used. Try: chmod 600 \(key)")
    self.key = bytes ?? []
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

  /// The error for a certificate and a key that libmicrohttpd cannot use.
  var mismatch: FieldpackError {
    FieldpackError(.invalidData, "\(names) do not belong together, or cannot be read")
  }
}
