// The one module that users import: it hands on the modules whose types its own API is made of.
@_exported public import FieldpackArrow
@_exported public import FieldpackCaptures
@_exported public import FieldpackCheck
@_exported public import FieldpackCore
@_exported public import FieldpackField
@_exported public import FieldpackFormats
@_exported public import FieldpackGeoPackage
@_exported public import FieldpackGeometry
@_exported public import FieldpackHTTP
@_exported public import FieldpackLocation
@_exported public import FieldpackMedia
@_exported public import FieldpackMonitoring
@_exported public import FieldpackMotion
@_exported public import FieldpackPhotos
@_exported public import FieldpackSQL
@_exported public import FieldpackTracks
@_exported public import FieldpackWFS
