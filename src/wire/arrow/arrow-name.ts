/**
 * The package whose classes an application uses. In a file of its own, so that using the name does not load the
 * package.
 */
export const arrowPackage = "apache-arrow";
