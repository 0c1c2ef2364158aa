import Fieldpack
import FieldpackCore

/// Where photos are looked for.
enum PhotoOrigin: Hashable, Sendable {
  case flickr
  case layer(file: String, LayerID)
}

extension ValueForm where Value == PhotoOrigin {
  /// `flickr`, or a GeoPackage and a layer of it.
  static var photos: ValueForm {
    ValueForm("flickr|FILE:LAYER", completion: .choices(["flickr"])) {
      (text) throws(ValueError) -> PhotoOrigin in
      if text == "flickr" { return .flickr }
      guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
        text.index(after: colon) < text.endIndex
      else { throw ValueError("is neither flickr nor a GeoPackage and a layer, FILE:LAYER") }
      return .layer(
        file: String(text[..<colon]), LayerID(String(text[text.index(after: colon)...])))
    }
  }
}

/// How photos are looked for.
enum PhotoArguments {
  static let within = Option<Double>.value(
    "within", .number("m", atLeast: 1), default: 32_000, shownAs: "32000",
    help: "How far from its point a picture may be, in metres.")

  static func settings(_ arguments: ParsedArguments) -> PhotoFetch.Settings {
    var settings = PhotoFetch.Settings()
    settings.radii = PhotoFetch.radii(within: arguments[within])
    return settings
  }
}

extension Invocation {
  /// Finds out whether photos can be had, before anything is made for them.
  func checkPhotos(of origin: PhotoOrigin?) async throws(FieldpackError) {
    guard let origin else { return }
    try await withPhotos(of: origin) { (_) throws(FieldpackError) in }
  }

  /// Opens what photos are looked for in, runs `body` and closes it, whatever happens.
  func withPhotos<R: Sendable>(
    of origin: PhotoOrigin, _ body: (any PhotoProvider) async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    guard case .layer(let file, let layer) = origin else { return try await body(FlickrProvider()) }
    let store = try await GeoPackageStore(
      path: file, id: FileImport.storeID(of: file), logger: logger)
    do throws(FieldpackError) {
      // Two files that are called the same are two albums, but a file may move.
      let name = file.split(separator: "/").last.map(String.init) ?? file
      let provider = try await LayerPhotoProvider(
        store: store, layer: layer, name: "\(name):\(layer)")
      let result = try await body(provider)
      await store.close()
      return result
    } catch {
      await store.close()
      throw error
    }
  }
}
